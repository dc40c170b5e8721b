"""How fast Quire is: ratios within one run, so that another machine tells the same story."""
