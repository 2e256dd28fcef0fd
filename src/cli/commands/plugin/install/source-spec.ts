/** What somebody wants to add, as it is typed: a folder, an archive, a package of the npm registry, or a repository. Pure. */
import { parseNpmSpec } from '../../../../actors/plugin/entry/npm-cache.js'
import { SvcError } from '../../../../protocol/errors.js'

export type SourceSpec =
  | { readonly type: 'directory'; readonly path: string }
  | { readonly type: 'tarball'; readonly path: string; readonly below?: string }
  | { readonly type: 'npm'; readonly spec: string }
  | { readonly type: 'git'; readonly url: string; readonly ref?: string; readonly below?: string }

const ARCHIVE = /\.(?:tgz|tar\.gz|tar)$/
const OTHER_ARCHIVE = /\.(?:zip|7z|rar|tar\.(?:bz2|xz|zst))$/i
const ADDRESS = /^(?:git\+)?(https?|file):\/\//

/** Throws a sentence. `below`: the folder in an archive or a repository that is the package. */
export function readSource(typed: string, below: string | undefined): SourceSpec {
  const inside = below === undefined ? {} : { below }
  if (typed.startsWith('npm:')) return npmSource(typed.slice(4), below)
  if (ADDRESS.test(typed)) {
    const [url = '', ref] = typed.replace(/^git\+/, '').split('#')
    if (ARCHIVE.test(url)) throw refused('an archive is added from a file: fetch it first, then name the file')
    return { type: 'git', url, ...(ref !== undefined && ref !== '' && { ref }), ...inside }
  }
  if (/^(?:git@|ssh:|git:|[\w.-]+:)/.test(typed) && !typed.startsWith('.') && !/^[a-z]:[\\/]/i.test(typed))
    throw refused('a repository is named by an address that begins with https://, http:// or file://')
  if (OTHER_ARCHIVE.test(typed)) throw refused(`"${typed.slice(0, 200)}" is an archive of another kind: taken are .tgz, .tar.gz and .tar`)
  if (ARCHIVE.test(typed)) return { type: 'tarball', path: typed, ...inside }
  if (/^(?:\.{1,2}(?:\/|$)|\/|~\/)/.test(typed) || (typed.includes('/') && !typed.startsWith('@'))) {
    if (below !== undefined) throw refused('--path is for archives and repositories; name the folder itself')
    return { type: 'directory', path: typed }
  }
  return npmSource(typed, below)
}

function npmSource(spec: string, below: string | undefined): SourceSpec {
  if (below !== undefined) throw refused('--path is for archives and repositories: a package of npm is the plugin itself')
  if (parseNpmSpec(spec) === undefined)
    throw refused(
      `"${spec.slice(0, 200)}" is neither a folder (./mine), an archive (mine.tgz), a package of npm (name, name@1.2.3, @scope/name) nor a repository (https://…)`,
    )
  return { type: 'npm', spec }
}

function refused(why: string): SvcError {
  return new SvcError('request.invalid', why)
}

/** As it would be typed. */
export function sourceText(source: SourceSpec): string {
  switch (source.type) {
    case 'npm':
      return `npm:${source.spec}`
    case 'git':
      return `git+${source.url}${source.ref === undefined ? '' : `#${source.ref}`}${source.below === undefined ? '' : ` --path ${source.below}`}`
    case 'tarball':
      return `${source.path}${source.below === undefined ? '' : ` --path ${source.below}`}`
    case 'directory':
      return source.path
  }
}
