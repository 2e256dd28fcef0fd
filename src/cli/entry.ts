#!/usr/bin/env node
/** Starts the program, from what the build has compiled where it can. */
import { loadCompiled } from '../platform/node/compiled.js'
import { optimizeLater } from '../platform/node/optimizing.js'

optimizeLater()
loadCompiled(process.getBuiltinModule('node:url').fileURLToPath(import.meta.url), 'svc.cjs')
