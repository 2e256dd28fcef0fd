#!/usr/bin/env node
/**
 * Starts the program. A build keeps what V8 made of it for the Node that built it: with that Node it is taken from there, with another one the
 * program is loaded as any other.
 */
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cachedDataVersionTag } from 'node:v8'
import vm from 'node:vm'

type Load = (id: string) => unknown
/** What a file of the program is, once it is compiled. */
type Body = (exports: object, require: Load, module: { exports: object }, filename: string) => void

const outside = createRequire(import.meta.url)
const here = dirname(fileURLToPath(import.meta.url))
/** Named by the version of V8 and its flags: what others made is not looked at. */
const compiled = join(here, 'compiled', String(cachedDataVersionTag()))

const loaded = new Map<string, { exports: object }>()

function load(file: string): object {
  const known = loaded.get(file)
  if (known !== undefined) return known.exports
  const module = { exports: {} }
  loaded.set(file, module)
  const made = join(compiled, file.slice(here.length + 1).replace('/', '_'))
  const script = new vm.Script(`(function(exports,require,module,__filename){${readFileSync(file, 'utf8')}\n})`, {
    filename: file,
    ...(existsSync(made) && { cachedData: readFileSync(made) }),
  })
  const near: Load = (id) => (id.startsWith('.') ? load(join(dirname(file), id)) : outside(id))
  const body = script.runInThisContext() as Body
  body(module.exports, near, module, file)
  return module.exports
}

const program = join(here, 'svc.cjs')
if (existsSync(compiled)) load(program)
else outside(program)
