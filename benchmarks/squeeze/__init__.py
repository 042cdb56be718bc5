"""How small a limit Plimsoll holds, over programs as people write them."""
