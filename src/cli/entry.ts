#!/usr/bin/env node
/**
 * Starts the program. A build keeps what V8 made of it for the Node that built it: with that Node it is taken from there, with another one the
 * program is loaded as any other.
 */
import { optimizeLater } from '../platform/node/optimizing.js'

type Load = (id: string) => unknown
/** What a file of the program is, once it is compiled. */
type Body = (exports: object, require: Load, module: { exports: object }, filename: string) => void

// What is imported of Node is wrapped first, which takes longer than all this file does.
const fs = process.getBuiltinModule('node:fs')
const path = process.getBuiltinModule('node:path')
const vm = process.getBuiltinModule('node:vm')

optimizeLater()
const outside = process.getBuiltinModule('node:module').createRequire(import.meta.url)
const here = path.dirname(process.getBuiltinModule('node:url').fileURLToPath(import.meta.url))
/** Named by the version of V8 and its flags: what others made is not looked at. */
const compiled = path.join(here, 'compiled', String(process.getBuiltinModule('node:v8').cachedDataVersionTag()))

const HEAD = Buffer.from('(function(exports,require,module,__filename){')
const TAIL = Buffer.from('\n})')
const loaded = new Map<string, { exports: object }>()

function load(file: string): object {
  const known = loaded.get(file)
  if (known !== undefined) return known.exports
  const module = { exports: {} }
  loaded.set(file, module)
  const made = path.join(compiled, file.slice(here.length + 1).replace('/', '_'))
  const script = new vm.Script(functionIn(file), {
    filename: file,
    ...(fs.existsSync(made) && { cachedData: fs.readFileSync(made) }),
  })
  const near: Load = (id) => (id.startsWith('.') ? load(path.join(path.dirname(file), id)) : outside(id))
  const body = script.runInThisContext() as Body
  body(module.exports, near, module, file)
  return module.exports
}

/** The file as a function. The build writes ASCII: the text is made in one piece, outside of the heap. */
function functionIn(file: string): string {
  return Buffer.concat([HEAD, fs.readFileSync(file), TAIL]).toString('latin1')
}

const program = path.join(here, 'svc.cjs')
if (fs.existsSync(compiled)) load(program)
else outside(program)
