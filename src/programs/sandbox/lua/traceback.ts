/** Where a script was when it failed, for its author. Nothing of the script runs for it (threat-model L4). */
import { lua_Debug, lua_getinfo, lua_getstack, type LuaState } from 'fengari/src/lua.js'
import { nameBytes, shownText } from '../values/text.js'

const LEVELS = 12
const LONGEST = 200

/** Innermost first, a line each: `agent.lua:12: in greet`. The caller is the message handler, which is level 0. */
export function traceback(L: LuaState): string[] {
  const lines: string[] = []
  for (let level = 1; level <= LEVELS; level++) {
    const frame = new lua_Debug()
    if (lua_getstack(L, level, frame) !== 1) break
    lua_getinfo(L, nameBytes('Sln'), frame)
    const line = placeOf(frame)
    if (line !== undefined) lines.push(line)
  }
  return lines
}

/** Undefined for what is not written in Lua: the sandbox itself. */
function placeOf({ name, what, short_src: file, currentline: line }: lua_Debug): string | undefined {
  if (file === null || line <= 0) return undefined
  const isMain = what !== null && shownText(what, LONGEST) === 'main'
  const called = isMain ? 'in the file itself' : name === null ? 'in a function' : `in ${shownText(name, LONGEST)}`
  return `${shownText(file, LONGEST)}:${line}: ${called}`
}
