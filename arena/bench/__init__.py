"""How fast this machine plays: the measures of `arena bench`, as ratios within one run."""
