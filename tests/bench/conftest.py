"""Its being here lets the tests in the folders below import `bench_tables`."""
