/** Programs and files that were built beside this program: what plugins are run with, the reader of web pages, the documents. */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { PluginPrograms } from '../actors/plugin/start-plans.js'
import type { NativeCode } from '../ports/native-code.js'
import type { ReaderProgram } from '../plugins/web/reading.js'

/** This file is part of the entry or of a chunk one folder below it. */
const PLACES = ['./', '../'] as const

export function pluginPrograms(): PluginPrograms {
  return { node: process.execPath, luaSandbox: builtBeside('lua-sandbox.js'), toolbox: builtBeside('toolbox.js'), native: nativeCode() }
}

/** Loaded with the first package that runs in this process. */
function nativeCode(): NativeCode {
  const load = () => createRequire(import.meta.url)(builtBeside('native.cjs')) as NativeCode
  return { open: (options) => load().open(options) }
}

export function readerProgram(): ReaderProgram {
  return { node: process.execPath, reader: builtBeside('page-reader.cjs') }
}

export function documentsDirectory(): string {
  return builtBeside('docs')
}

/** Absolute path. */
function builtBeside(name: string): string {
  const paths = PLACES.map((place) => fileURLToPath(new URL(`${place}${name}`, import.meta.url)))
  return paths.find((path) => existsSync(path)) ?? paths[0] ?? ''
}
