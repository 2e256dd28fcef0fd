/** Which exports of a module are tools, what they are called, and what is wrong with them. Pure. */

export type Exported = Readonly<Record<string, unknown>>

const TOOL_ID = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/
const MARKS: ReadonlySet<string> = new Set(['module.exports', '__esModule'])

/** The default is called like its file, any other `<file>_<name>`. What looks like no tool is left to other files. */
export function toolsIn(module: Exported, stem: string): readonly [string, Exported][] {
  return exportsOf(module).flatMap(([name, value]): [string, Exported][] => {
    if (!isObject(value) || !('execute' in value || 'description' in value)) return []
    return [[name === 'default' ? stem : `${stem}_${name}`, value]]
  })
}

/** CommonJS comes as its default, and once more by the names that were recognised in it. */
function exportsOf(module: Exported): [string, unknown][] {
  const entries = Object.entries(module).filter(([name]) => !MARKS.has(name))
  const whole = module['default']
  const isMirror = isObject(whole) && entries.every(([name, value]) => name === 'default' || whole[name] === value)
  if (!isMirror) return entries
  const isOne = 'execute' in whole || 'description' in whole
  return isOne ? [['default', whole]] : Object.entries(whole).filter(([name]) => !MARKS.has(name))
}

/** A sentence for the author; undefined for a tool that can be offered. */
export function faultOf(id: string, { execute, description, parameters, id: given }: Exported): string | undefined {
  if (typeof execute !== 'function') return `the tool "${id}" has no function execute`
  if (typeof description !== 'string' || description.trim() === '')
    return `the tool "${id}" has no description, by which a model knows when to use it`
  if (parameters !== undefined && !isObject(parameters)) return `the parameters of "${id}" are no JSON Schema`
  if (given !== undefined && given !== id) return `the tool says its id is ${JSON.stringify(given)}; by its file and export it is "${id}"`
  return TOOL_ID.test(id) ? undefined : `"${id}" is no tool id: a letter, then up to 63 letters, digits, "_" or "-"`
}

function isObject(value: unknown): value is Exported {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
