// A shared library without the one function that makes a PJRT plugin, for the tests.

int plimsoll_not_a_plugin(void) { return 0; }
