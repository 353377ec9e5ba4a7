"""The toolbox, with real functions, servers and stores."""
