/** `svc upgrade`: how this svc came here, and what somebody types for a newer one. Runs nothing. */
import { accessSync, constants, existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { nodePaths } from '../../../platform/node/paths.js'
import { readPresence } from '../../../server/presence.js'
import { VERSION } from '../../../server/version.js'
import { jsonText, writeOut } from '../../terminal/output.js'
import { installationOf, installationWords, upgradeSteps } from './installation.js'
import type { UpgradeOptions } from './upgrade-page.js'

declare const SVC_PUBLISHED_NAME: string
const PACKAGE = typeof SVC_PUBLISHED_NAME === 'undefined' ? 'svc' : SVC_PUBLISHED_NAME

/** Answers 0. */
export async function upgrade({ json }: UpgradeOptions): Promise<number> {
  const { state } = nodePaths(process.env)
  const root = rootOf(fileURLToPath(import.meta.url))
  const installation = installationOf({ root, node: process.execPath, exists: existsSync, isWritable })
  const running = readPresence(state)
  const steps = [
    'svc backup svc-before-upgrade.tar',
    ...(running === undefined ? [] : [`# stop the server at ${running.url} (process ${running.pid})`]),
    ...upgradeSteps(installation, { root, packageName: PACKAGE }),
    'svc doctor',
    ...(running?.kind === 'serve' ? ['# start the server again'] : []),
  ]
  if (json) writeOut(`${jsonText({ version: VERSION, installation, root, steps }, 2)}\n`)
  else
    writeOut(
      `svc ${VERSION} in ${root}, installed by ${installationWords(installation)}. For a newer one:\n\n${steps.map((step) => `  ${step}\n`).join('')}`,
    )
  return 0
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** What has a package.json, from the file that runs up. */
function rootOf(file: string): string {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    if (existsSync(`${folder}/package.json`) || dirname(folder) === folder) return folder
  }
}
