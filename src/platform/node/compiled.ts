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
    const script = compiledOf(file, made)
    const near: Load = (id) => (id.startsWith('.') ? load(path.join(path.dirname(file), id)) : outside(id))
    const body = script.runInThisContext() as Body
    body(module.exports, near, module, file)
    return module.exports
  }

  const program = path.join(here, name)
  return fs.existsSync(compiled) ? load(program) : outside(program)
}

/** Text and what was made of it lie in one room, one after the other: memory that is touched for the first time costs more than what is read into it. */
function compiledOf(file: string, made: string): InstanceType<typeof vm.Script> {
  const sizes = [file, made].map((each) => fs.statSync(each, { throwIfNoEntry: false })?.size ?? 0)
  const room = Buffer.allocUnsafeSlow(HEAD.length + Math.max(...sizes) + TAIL.length)
  const [size = 0, sizeMade = 0] = sizes
  HEAD.copy(room)
  readInto(room, HEAD.length, file, size)
  TAIL.copy(room, HEAD.length + size)
  // The build writes ASCII: the text is made in one piece, outside of the heap.
  const text = room.toString('latin1', 0, HEAD.length + size + TAIL.length)
  if (sizeMade === 0) return new vm.Script(text, { filename: file })
  readInto(room, 0, made, sizeMade)
  return new vm.Script(text, { filename: file, cachedData: room.subarray(0, sizeMade) })
}

function readInto(room: Buffer, at: number, file: string, size: number): void {
  const opened = fs.openSync(file, 'r')
  try {
    for (let read = 0, more = 1; read < size && more > 0; read += more) more = fs.readSync(opened, room, at + read, size - read, null)
  } finally {
    fs.closeSync(opened)
  }
}
