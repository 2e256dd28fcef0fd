/** `svc workflow new`: a file to begin with. */
import { writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { stringify } from 'yaml'
import { nodePaths } from '../../../platform/node/paths.js'
import { SvcError } from '../../../protocol/errors.js'
import { MANAGED_ID } from '../../../plugins/workflows/files/definition.js'
import type { NewOptions } from './workflow-arguments.js'
import { jsonText, writeOut } from '../../terminal/output.js'
import { makeDirectoriesSync } from '../../../store/disk/make-directories.js'

/** Writes the file; nothing that exists is written over. Answers 0. */
export function newWorkflow({ id, directory, global, json }: NewOptions): number {
  if (!MANAGED_ID.test(id)) {
    const rule = '1 to 80 lower-case letters, digits, ".", "_" or "-", beginning with a letter, such as daily-report'
    throw new SvcError('request.invalid', `"${id}" is not the id of a workflow: ${rule}`)
  }
  const root = global ? nodePaths(process.env).config : join(resolve(directory ?? '.'), '.svc')
  const file = join(root, 'workflows', `${id}.md`)
  makeDirectoriesSync(dirname(file))
  try {
    writeFileSync(file, template(id), { flag: 'wx' })
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') {
      throw new SvcError('resource.conflict', `${file} exists already; nothing was written`)
    }
    throw error
  }
  writeOut(json ? `${jsonText({ id, file }, 2)}\n` : `wrote ${file}\nnext: svc workflow preview ${file}\n`)
  return 0
}

function template(id: string): string {
  const words = id.split(/[._-]+/).join(' ')
  return `---
${stringify({ id, name: words.charAt(0).toUpperCase() + words.slice(1) })}# It runs by schedule once this is true.
active: false
schedule:
  frequency: daily # hourly, daily, weekly (weekdays: [mon, thu]) or monthly (monthDay: 31); or date: 2030-01-31, or at: 2030-01-31T09:00:00Z
  time: 09:00
  timezone: local
# directory: ~/work
# agent: build
# model: { providerId: svc, modelId: offline }
# skill: review
# permissions: { edit: deny, bash: { default: deny, allow: ["git log*"] } }
---

Say here what the agent is to do.
`
}
