"""Joint limits and workspace rules, and checks of motions against them."""
