#include "rewrite/solve_rules.h"

#include "gtest/gtest.h"
#include "rewrite/testing.h"
