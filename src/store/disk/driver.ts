/**
 * The SQLite driver that fits this Node; both read and write the same files. From Node 22 on it is the release that
 * carries its binaries. That one ends Node 20 with a segmentation fault, so the version is looked at before it is loaded.
 */
import { createRequire } from 'node:module'
import type Driver from 'better-sqlite3'
import { SvcError } from '../../protocol/errors.js'

const FIRST_WITH_BINARIES = 22

const hasBinaries = Number.parseInt(process.versions.node, 10) >= FIRST_WITH_BINARIES
/** The name of its package. */
export const DRIVER = hasBinaries ? 'better-sqlite3-prebuilt' : 'better-sqlite3'

export const Database = load(createRequire(import.meta.url))

function load(require: NodeJS.Require): typeof Driver {
  try {
    return require(DRIVER) as typeof Driver
  } catch (cause) {
    const message = `The SQLite driver for Node ${process.versions.node} is not installed. Install svc with this Node: "npm ci" in a clone, else "npm i -g --allow-scripts" of its file.`
    throw new SvcError('store.unavailable', message, {}, { cause })
  }
}
