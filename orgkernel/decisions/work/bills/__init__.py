"""Bills: which steps of a procedure of several roles may start now, who must do them, and who could take its bill roles."""
