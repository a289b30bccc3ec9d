"""What a protocol is: fields, parameters, starts and sets, in three models of computation."""
