/**
 * Loads files of the build with what V8 made of them when they were built, for the Node that built them: `compiled/<version of V8 and its
 * flags>/`. With another Node there is nothing to take, and a file is loaded as any other.
 */
type Load = (id: string) => unknown
/** What a file of the program is, once it is compiled. */
type Body = (exports: object, require: Load, module: { exports: object }, filename: string) => void

// What is imported of Node is wrapped first, which takes longer than all this file does.
const fs = process.getBuiltinModule('node:fs')
const path = process.getBuiltinModule('node:path')
const vm = process.getBuiltinModule('node:vm')

const HEAD = Buffer.from('(function(exports,require,module,__filename){')
const TAIL = Buffer.from('\n})')

/** Loads the file `name`, which lies beside `file` (absolute). Flags of V8 that are set later make no difference. */
export function loadCompiled(file: string, name: string): unknown {
  const outside = process.getBuiltinModule('node:module').createRequire(file)
  const here = path.dirname(file)
  const compiled = path.join(here, 'compiled', String(process.getBuiltinModule('node:v8').cachedDataVersionTag()))
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

  const program = path.join(here, name)
  return fs.existsSync(compiled) ? load(program) : outside(program)
}

/** The file as a function. The build writes ASCII: the text is made in one piece, outside of the heap. */
function functionIn(file: string): string {
  return Buffer.concat([HEAD, fs.readFileSync(file), TAIL]).toString('latin1')
}
