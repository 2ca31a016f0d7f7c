"""Methods of the user's own: a class with `ask` and `tell`, from a file, a module or a script.

`own_class` says what such a class has to be, `guard` runs its calls, `adapter` makes it a `Method`
like any other. May import the methods' base class and what is below; knows no method by name.
"""
