package grammar
