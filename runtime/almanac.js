#!/usr/bin/env node
// Makes `npx almanac` work in a checkout: npm links the programs of workspaces into node_modules/.bin, and not those of
// the package that has them. It holds nothing but the way there, in syntax that an old Node can read.
import '../bin/almanac.js'
