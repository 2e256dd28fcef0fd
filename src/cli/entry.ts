#!/usr/bin/env node
/** Starts the program, from what the build has compiled where it can. */
import { loadCompiled } from '../platform/node/compiled.js'
import { growLater, optimizeLater } from '../platform/node/optimizing.js'
import { loadOwnModules } from '../platform/node/own-modules.js'

if (process.argv[2] === 'serve') loadOwnModules()
optimizeLater()
growLater()
loadCompiled(process.getBuiltinModule('node:url').fileURLToPath(import.meta.url), 'svc.cjs')
