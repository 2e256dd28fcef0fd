/**
 * `svc plugin init`: a package that works as it is, where svc finds it, or in a folder of its own.
 *
 * I1 What is installed holds no sources of a build, no checks and no `node_modules`: those are in `plugin-sources/`, beside `plugins/`, or
 *    around the folder `package` of a folder of its own.
 * I2 Nothing that exists is written over.
 */
import { existsSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { nodePaths } from '../../../../platform/node/paths.js'
import { SvcError } from '../../../../protocol/errors.js'
import { PACKAGE_ID } from '../../../../protocol/plugin/plugin.js'
import { jsonText, writeOut } from '../../../terminal/output.js'
import { absolute } from '../install/fetch-source.js'
import { FOLDER } from '../install/package-content.js'
import type { InitOptions } from '../plugin-arguments.js'
import { pluginRoots } from '../plugin-place.js'
import { CHECK_FILE } from '../check-file-name.js'
import { checksFor } from './checks-template.js'
import { installedLibrary, type Library } from './library.js'
import { luaPackage } from './lua-template.js'
import { javascriptPackage, typescriptSources } from './node-template.js'
import { pythonPackage } from './python-template.js'
import { stripped } from './strip-types.js'
import { type Files, namesOf } from './template.js'
import { makeDirectoriesSync } from '../../../../store/disk/make-directories.js'

interface Place {
  readonly id: string
  /** The package. */
  readonly folder: string
  /** What stands beside it: sources, checks. */
  readonly sources: string
}

/** Writes the package and what stands beside it; answers 0. `library` is read when the language needs it. */
export function initPlugin(options: InitOptions, library: () => Library = installedLibrary): number {
  const place = placeOf(options)
  const { id, folder, sources } = place
  refuseId(id)
  const { language, kinds } = options
  const beside = {
    ...(language === 'typescript' ? typescriptSources(id, kinds, relativeTo(place), library()) : {}),
    [CHECK_FILE]: checksFor(id, kinds),
  }
  const files = packageFiles({ ...options, id }, library, beside)
  const taken = isInside(place) ? [sources] : [folder, sources]
  const there = taken.find((each) => existsSync(each) && !(isInside(place) && readdirSync(each).length === 0))
  if (there !== undefined) throw new SvcError('resource.conflict', `${there} exists already; nothing was written`)
  writeFolder(sources, beside, () => writeFolder(folder, files))
  const paths = [...Object.keys(files).map((name) => join(folder, name)), ...Object.keys(beside).map((name) => join(sources, name))]
  const result = { id, language, package: folder, sources, files: paths }
  writeOut(options.json ? `${jsonText(result, 2)}\n` : summary(options, place, paths))
  return 0
}

/** A word with a slash is a folder; any other is the id of a package in the place where svc looks for one of its scope. */
function placeOf({ target, id: named, scope, directory }: InitOptions): Place {
  if (isFolder(target)) {
    const folder = absolute(target)
    const word = basename(folder)
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^[^a-z]+|-+$/g, '')
    return { id: named ?? `dev.example.${word || 'hello'}`, folder: join(folder, FOLDER), sources: folder }
  }
  if (named !== undefined) throw new SvcError('request.invalid', '--id is for packages in a folder; here the id is the word itself')
  const isOfWorkspace = scope === 'workspace' || scope === 'session'
  const roots = pluginRoots(nodePaths(process.env).config, existing(directory ?? '.'))
  const root = isOfWorkspace ? roots.workspace : roots.user
  return { id: target, folder: join(root, target), sources: join(dirname(root), 'plugin-sources', target) }
}

/** Whether a word names a folder rather than an id. */
export function isFolder(target: string): boolean {
  return target.includes('/') || target === '.' || target === '..'
}

/** The package stands in the folder of its sources. */
function isInside({ folder, sources }: Place): boolean {
  return folder.startsWith(`${sources}/`)
}

/** The package, seen from its sources. */
function relativeTo(place: Place): string {
  return isInside(place) ? FOLDER : `../../plugins/${place.id}`
}

function refuseId(id: string): void {
  if (id.startsWith('dev.svc.')) throw new SvcError('request.invalid', 'ids that begin with "dev.svc." belong to the built-in plugins')
  if (PACKAGE_ID.test(id)) return
  const rule = 'two or more parts joined by ".", each of a-z, 0-9 and "-", beginning with a letter, such as dev.example.hello'
  throw new SvcError('request.invalid', `"${id}" is not the id of a package: ${rule}; a folder is written ./${id}`)
}

function existing(directory: string): string {
  try {
    return realpathSync(resolve(directory))
  } catch (cause) {
    throw new SvcError('request.invalid_directory', `${resolve(directory)} does not exist`, {}, { cause })
  }
}

function packageFiles(options: InitOptions & { readonly id: string }, library: () => Library, beside: Files): Files {
  const { id, language, scope, kinds } = options
  switch (language) {
    case 'lua':
      return luaPackage(id, scope, kinds)
    case 'python':
      return pythonPackage(id, scope, kinds, library())
    case 'javascript':
      return javascriptPackage(id, scope, kinds, library())
    case 'typescript':
      return { ...javascriptPackage(id, scope, kinds, library()), ...stripped(beside) }
  }
}

/** With what `inside` writes into it; what was written is removed when something cannot be. */
function writeFolder(folder: string, files: Files, inside?: () => void): void {
  makeDirectoriesSync(folder)
  try {
    for (const [name, text] of Object.entries(files)) {
      makeDirectoriesSync(dirname(join(folder, name)))
      writeFileSync(join(folder, name), text, { flag: 'wx' })
    }
    inside?.()
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
}

function summary({ language, kinds, target }: InitOptions, place: Place, paths: readonly string[]): string {
  const { id, sources } = place
  const written = paths.map((path) => `wrote ${path}`)
  if (isInside(place)) {
    const steps = [
      `next: svc plugin test ${target}`,
      `then: svc plugin dev ${target}, while you change it`,
      `at last: svc plugin pack ${target}`,
    ]
    return `${[...written, ...steps].join('\n')}\n`
  }
  const call = kinds.includes('tool') ? ` ${namesOf(id).word} '{"name": "Ada"}'` : ''
  const steps = [`next: svc plugin trust ${id}`, `then: svc plugin test ${id}${call}`]
  const change = language === 'typescript' ? [`to change it: svc plugin dev ${id}; its sources are in ${sources}`] : []
  return `${[...written, ...steps, ...change].join('\n')}\n`
}
