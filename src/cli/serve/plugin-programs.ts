/** Programs that plugins are run with: this Node, and the Lua sandbox that was built beside this program. */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { PluginPrograms } from '../../actors/plugin/plugin-system.js'

/** This file is part of the entry or of a chunk one folder below it. */
const PLACES = ['./lua-sandbox.js', '../lua-sandbox.js'] as const

export function pluginPrograms(): PluginPrograms {
  const paths = PLACES.map((place) => fileURLToPath(new URL(place, import.meta.url)))
  return { node: process.execPath, luaSandbox: paths.find((path) => existsSync(path)) ?? paths[0] ?? '' }
}
