var n="orgkernel sign-in";export{n as a};
