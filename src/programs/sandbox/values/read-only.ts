/**
 * Tables a script can read but not change, by any means: assignment, `rawset`, `table.insert`, `setmetatable` (threat-model L1).
 * They are sealed inside the VM's own representation, below every function that could be tricked.
 */
import { lua_topointer, type LuaState } from 'fengari/src/lua.js'

interface Entry {
  readonly key: object
  readonly value: object
}
interface Table {
  readonly strong: Map<unknown, Entry>
  readonly dead_strong: Map<unknown, Entry>
  readonly metatable: object | null
}

/** Seals the table at `index`; its entries stay what they are. Tables inside it are not sealed. */
export function readOnly(L: LuaState, index: number): void {
  const table = lua_topointer(L, index)
  if (table === null || !isTable(table)) throw new TypeError('There is no table to seal.')
  for (const entry of table.strong.values()) {
    seal(entry.key, ['setdeadvalue'])
    seal(entry.value, ['setfrom'])
    Object.freeze(entry)
  }
  // The VM clears `dead_strong` first when it adds a key, and asks the key first when it removes one.
  seal(table.dead_strong, ['clear', 'set'])
  seal(table.strong, ['set', 'delete', 'clear'])
  const { metatable } = table
  Object.defineProperty(table, 'metatable', { get: () => metatable, set: refuse })
}

function isTable(value: object): value is Table {
  return 'strong' in value && value.strong instanceof Map && 'dead_strong' in value && value.dead_strong instanceof Map
}

function seal(object: object, methods: readonly string[]): void {
  for (const name of methods) Object.defineProperty(object, name, { value: refuse })
  Object.freeze(object)
}

function refuse(): never {
  throw new Error('attempt to change a read-only table')
}
