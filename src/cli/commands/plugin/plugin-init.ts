/**
 * `svc plugin init`: a package that works as it is, written where svc finds it.
 *
 * I1 What is installed holds no sources of a build and no `node_modules`: those are in `plugin-sources/`, beside `plugins/`.
 * I2 Nothing that exists is written over.
 */
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { nodePaths } from '../../../platform/node/paths.js'
import { SvcError } from '../../../protocol/errors.js'
import { PACKAGE_ID } from '../../../protocol/plugin/plugin.js'
import type { InitOptions } from './plugin-arguments.js'
import { pluginRoots } from './plugin-place.js'
import { luaPackage } from './plugin-template-lua.js'
import { javascriptPackage, typescriptSources } from './plugin-template-node.js'
import { toolName } from './plugin-template.js'
import { pythonPackage } from './plugin-template-python.js'
import { jsonText, writeOut } from '../../terminal/output.js'

/** Files by path below their folder. */
export type Files = Readonly<Record<string, string>>

/** The library of plugin authors as it was built: `svc-plugin.js` and its declarations. */
export interface Library {
  readonly code: string
  readonly declarations: string
}

/** Writes the package (and its sources); answers 0. `library` is read when the language needs it. */
export function initPlugin(options: InitOptions, library: () => Library = installedLibrary): number {
  const { id, language, scope, directory, json } = options
  refuseId(id)
  const isOfWorkspace = scope === 'workspace' || scope === 'session'
  const roots = pluginRoots(nodePaths(process.env).config, existing(directory ?? '.'))
  const root = isOfWorkspace ? roots.workspace : roots.user
  const folder = join(root, id)
  const sources = join(dirname(root), 'plugin-sources', id)
  const made = [
    { folder, files: packageFiles(options, library) },
    ...(language === 'typescript' ? [{ folder: sources, files: typescriptSources(id, library()) }] : []),
  ]
  const taken = made.find(({ folder }) => existsSync(folder))
  if (taken !== undefined) throw new SvcError('resource.conflict', `${taken.folder} exists already; nothing was written`)
  for (const each of made) writeFolder(each)
  const paths = made.flatMap(({ folder, files }) => Object.keys(files).map((name) => join(folder, name)))
  const result = { id, language, package: folder, ...(made.length > 1 ? { sources } : {}), files: paths }
  writeOut(json ? `${jsonText(result, 2)}\n` : summary(id, paths, made.length > 1 ? sources : undefined))
  return 0
}

function refuseId(id: string): void {
  if (id.startsWith('dev.svc.')) throw new SvcError('request.invalid', 'ids that begin with "dev.svc." belong to the built-in plugins')
  if (PACKAGE_ID.test(id)) return
  const rule = 'two or more parts joined by ".", each of a-z, 0-9 and "-", beginning with a letter, such as dev.example.hello'
  throw new SvcError('request.invalid', `"${id}" is not the id of a package: ${rule}`)
}

function existing(directory: string): string {
  try {
    return realpathSync(resolve(directory))
  } catch (cause) {
    throw new SvcError('request.invalid_directory', `${resolve(directory)} does not exist`, {}, { cause })
  }
}

function packageFiles({ id, language, scope }: InitOptions, library: () => Library): Files {
  switch (language) {
    case 'lua':
      return luaPackage(id, scope)
    case 'python':
      return pythonPackage(id, scope)
    case 'javascript':
    case 'typescript':
      return javascriptPackage(id, scope, library())
  }
}

function writeFolder({ folder, files }: { readonly folder: string; readonly files: Files }): void {
  mkdirSync(dirname(folder), { recursive: true })
  mkdirSync(folder)
  try {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true })
      writeFileSync(join(folder, name), text, { flag: 'wx' })
    }
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
}

/** `sources`: where those of a build are. */
function summary(id: string, paths: readonly string[], sources: string | undefined): string {
  const written = paths.map((path) => `wrote ${path}`)
  const steps = [`next: svc plugin trust ${id}`, `then: svc plugin test ${id} ${toolName(id)} '{"name": "Ada"}'`]
  const change = sources === undefined ? [] : [`to change it: (cd ${sources} && npm install), then svc plugin dev ${id}`]
  return `${[...written, ...steps, ...change].join('\n')}\n`
}

/** Beside this program, wherever the build put this part of it. */
function installedLibrary(): Library {
  const here = dirname(fileURLToPath(import.meta.url))
  const found = [here, dirname(here)].find((place) => existsSync(join(place, 'plugin.d.ts')))
  if (found === undefined)
    throw new SvcError('feature.not_implemented', 'this installation lacks plugin.js, the library for plugins; run: npm run build')
  return { code: readFileSync(join(found, 'plugin.js'), 'utf8'), declarations: readFileSync(join(found, 'plugin.d.ts'), 'utf8') }
}
