/**
 * Patches onto files (subsystems h; threat-model V4): all of a patch, or nothing.
 *
 * I1 No protected file is changed, and none outside the directory.
 * I2 A name with a control character in it is refused, however it is written. A tab ends a name, and a time may follow.
 */
import type { Checkout } from '../../ports/git.js'
import type { NativeHost } from '../../ports/plugin.js'
import { canonicalPath } from '../../protocol/text/canonical-path.js'
import { isWithin } from '../../protocol/caller.js'
import { LIMITS } from '../../protocol/limits.js'
import { hasControls } from '../../protocol/text/path-text.js'
import type { VcsApplyResult } from '../../protocol/vcs/vcs.js'

type Host = Pick<NativeHost, 'protectedFiles'> & { readonly effects: Pick<NativeHost['effects'], 'files'> }

interface Patch {
  readonly text: string
  /** Canonical; paths of the patch are below it. */
  readonly directory: string
}

export async function applyPatch(
  { protectedFiles, effects }: Host,
  checkout: Checkout,
  { text, directory }: Patch,
  signal: AbortSignal,
): Promise<VcsApplyResult> {
  const fault = faultOf(text)
  if (fault !== undefined) return { success: false, error: fault }
  const call = { cwd: directory, stdin: text.endsWith('\n') ? text : `${text}\n`, signal }
  const paths = new Set<string>()
  for (const turn of [[], ['--reverse']]) {
    const { exitCode, stdout, stderr } = await checkout.run(['apply', ...turn, '--numstat', '-z', '-'], call)
    if (exitCode !== 0) return { success: false, error: reasonOf(stderr) }
    for (const path of namesOf(stdout)) {
      if (hasControls(path)) return { success: false, error: `the name ${JSON.stringify(path)} contains a control character` }
      paths.add(`${checkout.worktree}/${path}`)
    }
  }
  if (paths.size > LIMITS.vcs.patchedFiles) return { success: false, error: `the patch is for more than ${LIMITS.vcs.patchedFiles} files` }
  if (paths.size === 0) return { success: false, error: 'the patch names no file below the directory' }
  const targets = await Promise.all([...paths].map((path) => canonicalPath((each) => effects.files.realPath(each), path)))
  const outside = targets.find((path) => !isWithin(directory, path))
  if (outside !== undefined) return { success: false, error: `${outside} is outside of ${directory}` }
  const reasons = await protectedFiles.reasons(targets)
  const index = reasons.findIndex((reason) => reason !== undefined)
  if (index !== -1) return { success: false, error: `${targets[index]}: ${reasons[index]}` }
  const { exitCode, stderr } = await checkout.run(['apply', '--whitespace=nowarn', '-'], call)
  return exitCode === 0 ? { success: true } : { success: false, error: reasonOf(stderr) }
}

/** What git would not tell of it (I2), as a control character ends the name that it reads. */
function faultOf(text: string): string | undefined {
  if (text.includes('\0')) return 'the patch contains a NUL character'
  const names = text.split('\n').filter((line) => HEADERS.some((begin) => line.startsWith(begin)))
  const fault = names.find(
    (line) => hasControls(line.replace(/\r$/, '').replaceAll('\t', '')) || (line.includes('"') && line.includes('\\000')),
  )
  return fault === undefined ? undefined : `the name in the line ${JSON.stringify(fault.slice(0, SHOWN))} contains a control character`
}

const HEADERS = ['diff --git ', '--- ', '+++ ', 'rename ', 'copy ']
const SHOWN = 200

/** New names of the files of a patch; of a reversed one the old ones. */
function namesOf(numstat: Uint8Array): string[] {
  return new TextDecoder()
    .decode(numstat)
    .split('\0')
    .flatMap((entry) => {
      const path = entry.split('\t').slice(2).join('\t')
      return path === '' ? [] : [path]
    })
}

function reasonOf(stderr: string): string {
  return stderr.replaceAll(/(?<=^|\n)error: /g, '') || 'git refused the patch'
}
