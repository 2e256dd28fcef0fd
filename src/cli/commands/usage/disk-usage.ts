/** `svc usage --disk`: what is kept, within which bounds, and the room that is left. Changes nothing. */
import { existsSync, statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { nodePaths } from '../../../platform/node/paths.js'
import { printable } from '../../../protocol/text/visible-text.js'
import { freeBytes } from '../../../store/opening/compact.js'
import { jsonText, writeOut } from '../../terminal/output.js'
import { keptParts } from '../cleanup/kept.js'
import { sizeText } from '../cleanup/size-text.js'
import { columns } from '../plugin/plugin-words.js'

/** Answers 0. */
export function diskUsage(json: boolean): number {
  const paths = nodePaths(process.env)
  const parts = keptParts(paths, freeBytes)
  const { bavail, blocks, bsize } = statfsSync(nearestThere(paths.state))
  const disk = { path: paths.state, freeBytes: bavail * bsize, totalBytes: blocks * bsize }
  if (json) {
    writeOut(`${jsonText({ parts: parts.map(({ what, path, files, bytes, stays }) => ({ what, path, files, bytes, stays })), disk }, 2)}\n`)
    return 0
  }
  const there = parts.filter(({ bytes }) => bytes > 0)
  const rows = there.map(({ what, files, bytes, stays, path }) => [what, String(files), sizeText(bytes), stays, printable(path)])
  const all = ['all', '', sizeText(there.reduce((sum, { bytes }) => sum + bytes, 0)), '', '']
  writeOut(columns([['WHAT', 'FILES', 'SIZE', 'GOES', 'WHERE'], ...rows, all]))
  writeOut(`free on this disk: ${sizeText(disk.freeBytes)} of ${sizeText(disk.totalBytes)}\n`)
  return 0
}

function nearestThere(path: string): string {
  return existsSync(path) ? path : nearestThere(dirname(path))
}
