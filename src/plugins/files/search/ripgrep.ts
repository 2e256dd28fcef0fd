/**
 * The search engine on top of the ripgrep program. It is given everything on the command line: ignore files and its own
 * configuration are not read, so that what a workspace contains does not decide what is found.
 */
import type { NativeHost } from '../../../ports/plugin.js'
import { escapeRegex, normaliseGlob } from './globs.js'
import { parseRipgrep } from './ripgrep-output.js'
import { excludedGlobs, MAX_MATCHES, MAX_PATHS, type SearchEngine, type TextQuery, type Tree } from './search.js'

const CAPTURED = 16 * 1024
const BASE = ['--no-config', '--no-ignore', '--hidden', '--no-messages', '--no-require-git', '--threads=2']

type Host = Pick<NativeHost['effects'], 'processes' | 'childEnv'>

/** `program` is the absolute path of ripgrep. Rejects when it cannot be started. */
export function ripgrepEngine(program: string, { processes, childEnv }: Host): SearchEngine {
  const run = async (tree: Tree, args: readonly string[], onStdout: (text: string) => 'more' | 'enough') => {
    const enough = new AbortController()
    const result = await processes.run({
      command: program,
      args: [...BASE, ...args, '--', tree.file === undefined ? './' : `./${tree.file}`],
      cwd: tree.root,
      env: childEnv,
      signal: AbortSignal.any([tree.signal, enough.signal]),
      timeoutMs: tree.timeoutMs,
      captureBytes: CAPTURED,
      onStdout(text) {
        if (!enough.signal.aborted && onStdout(text) === 'enough') enough.abort()
      },
    })
    tree.signal.throwIfAborted()
    return { ...result, enough: enough.signal.aborted }
  }

  return {
    name: 'ripgrep',

    async findText(tree, query) {
      if (query.syntax === 'regex' && query.patterns.some((await import('./regex.js')).leavesGroup))
        return { status: 'invalid', message: 'a ")" in the expression has no "("' }
      const output = parseRipgrep()
      const result = await run(tree, ['--json', ...queryArguments(query), ...globArguments(tree)], (text) => {
        output.push(text)
        return output.matches() >= MAX_MATCHES ? 'enough' : 'more'
      })
      const files = output.finish()
      if (result.enough) return { status: 'found', files, incomplete: `stopped after ${MAX_MATCHES} matching lines` }
      if (result.timedOut) return { status: 'timed-out' }
      if (result.exitCode === 2 && result.stderr.trim() !== '' && files.length === 0)
        return { status: 'invalid', message: result.stderr.trim() }
      return {
        status: 'found',
        files,
        incomplete: output.tooLong() === 0 ? undefined : `${output.tooLong()} very long lines were left out`,
      }
    },

    async listPaths(tree) {
      const paths: string[] = []
      let rest = ''
      const result = await run(tree, ['--files', '--null', ...globArguments(tree)], (text) => {
        const names = (rest + text).split('\0')
        rest = names.pop() ?? ''
        for (const name of names) paths.push(name.replace(/^\.\//, ''))
        return paths.length >= MAX_PATHS ? 'enough' : 'more'
      })
      if (result.enough) return { status: 'found', paths: paths.slice(0, MAX_PATHS), incomplete: `stopped after ${MAX_PATHS} files` }
      return result.timedOut ? { status: 'timed-out' } : { status: 'found', paths }
    },
  }
}

function queryArguments(query: TextQuery): string[] {
  return [
    '--crlf',
    query.caseSensitive ? '--case-sensitive' : '--ignore-case',
    `--context=${query.context}`,
    ...query.patterns.flatMap((pattern) => ['-e', wholeRest(query.syntax === 'plain' ? escapeRegex(pattern) : pattern)]),
  ]
}

/** Matches up to the end of the line: every match is reported with its place, and one for each line is enough. */
function wholeRest(pattern: string): string {
  return `(?:${pattern}).*`
}

/** Later globs win, so exclusions come last. */
function globArguments(tree: Tree): string[] {
  if (tree.file !== undefined) return []
  const globs = [...tree.include.map(rooted), ...excludedGlobs(tree).map((glob) => `!${rooted(glob)}`)]
  return globs.map((glob) => `--glob=${glob}`)
}

function rooted(glob: string): string {
  return `/${normaliseGlob(glob)}`
}
