/** An image that somebody has copied, where a program here can tell it. */
import { execFile } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const WAIT_MS = 3000
const MOST = 16 * 1024 * 1024

/** Of Wayland, X and macOS; each writes a PNG to its standard output. */
const PROGRAMS: readonly (readonly [string, readonly string[]])[] = [
  ['wl-paste', ['--type', 'image/png']],
  ['xclip', ['-selection', 'clipboard', '-target', 'image/png', '-out']],
  ['pngpaste', ['-']],
]
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47])

/** A file that goes with the temporary folder of this machine; undefined where there is no image, or no such program. */
export async function clipboardImage(): Promise<string | undefined> {
  for (const [program, args] of PROGRAMS) {
    const { stdout } = await run(program, args, { encoding: 'buffer', timeout: WAIT_MS, maxBuffer: MOST }).catch(() => ({
      stdout: undefined,
    }))
    if (stdout === undefined || !stdout.subarray(0, PNG.length).equals(PNG)) continue
    const file = join(mkdtempSync(join(tmpdir(), 'svc-paste-')), 'pasted.png')
    writeFileSync(file, stdout, { mode: 0o600 })
    return file
  }
  return undefined
}
