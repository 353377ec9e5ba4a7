// The channel between the page and the window of the identity provider. Only pages of this origin can use it.

export const CHANNEL = "orgkernel sign-in";
