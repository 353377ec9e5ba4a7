import{a,b}from"./part-chunk-BIUJD3FJ.js";import"./part-chunk-YFXGSDFL.js";export{a as AccessView,b as SubjectLink};
