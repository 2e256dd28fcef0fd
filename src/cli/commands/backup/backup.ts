/** `svc backup` and `svc restore`: what was written, and what is there now. */
import { nodePaths } from '../../../platform/node/paths.js'
import { printable } from '../../../protocol/text/visible-text.js'
import { backUp } from '../../../server/keeping/back-up.js'
import type { Manifest } from '../../../server/keeping/manifest.js'
import { restore as restoreState } from '../../../server/keeping/restore.js'
import { explainLock } from '../../../server/presence.js'
import { VERSION } from '../../../server/version.js'
import { jsonText, writeError, writeOut } from '../../terminal/output.js'
import { sizeText } from '../cleanup/size-text.js'
import type { BackupCommand, RestoreCommand } from './backup-pages.js'

/** Answers 0. */
export async function backup({ file, credentials, replace, json }: BackupCommand): Promise<number> {
  const { state, config } = nodePaths(process.env)
  const { manifest, bytes, leftOut } = await backUp({ file, state, config, credentials, replace, version: VERSION, now: Date.now() })
  for (const path of leftOut) writeError(`left out, as it is a link: ${printable(path)}\n`)
  if (json) writeOut(`${jsonText({ file, bytes, leftOut, ...told(manifest) }, 2)}\n`)
  else writeOut(`wrote ${printable(file)}: ${sizeText(bytes)}, ${countsText(manifest)}, ${credentials ? 'with' : 'without'} credentials\n`)
  return 0
}

/** Answers 0. */
export async function restore({ file, state, replace, configuration, json }: RestoreCommand): Promise<number> {
  const paths = nodePaths(process.env)
  const directory = state ?? paths.state
  try {
    const { manifest, aside } = restoreState({
      file,
      state: directory,
      config: configuration ? paths.config : undefined,
      replace,
      now: Date.now(),
    })
    if (json) writeOut(`${jsonText({ state: directory, aside, ...told(manifest) }, 2)}\n`)
    else {
      const before = aside.map((folder) => `what was there before is in ${printable(folder)}\n`).join('')
      writeOut(`restored ${printable(directory)}: ${countsText(manifest)}, as of ${manifest.made}\n${before}`)
    }
    return 0
  } catch (error) {
    throw explainLock(error, directory)
  }
}

function told({ version, made, credentials, counts, members }: Manifest) {
  return { version, made, credentials, counts, files: members.length }
}

function countsText({ counts: { sessions, messages, artifacts } }: Manifest): string {
  return `${many(sessions, 'conversation')}, ${many(messages, 'message')}, ${many(artifacts, 'upload')}`
}

function many(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}
