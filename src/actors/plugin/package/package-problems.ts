/** What keeps a package with a well-formed manifest from running (plugin-protocol §1.3, choices 8). */
import { isAbsolute, join, sep } from 'node:path'
import type { PackageDiagnostic, PackageManifest } from '../../../protocol/plugin/plugin.js'
import type { Effects } from '../../../ports/effects.js'

interface Candidate {
  /** Canonical. */
  readonly root: string
  readonly source: 'user' | 'workspace'
  readonly manifest: PackageManifest
}

const API_VERSION = 1
const OS_NAMES: Readonly<Record<string, readonly string[]>> = { darwin: ['macos', 'darwin'], win32: ['windows'] }

/** Every problem; empty for a package that may run once it is trusted. */
export async function packageProblems(effects: Pick<Effects, 'files' | 'platform'>, candidate: Candidate): Promise<PackageDiagnostic[]> {
  const { manifest, source } = candidate
  const { agent } = manifest
  if (agent === null) return []
  const problems = [...incompatibilities(manifest, effects.platform.os)]
  if (source === 'workspace' && (agent.scope === 'global' || agent.scope === 'user')) {
    problems.push(invalid(`agent.scope: a package of a workspace may have the scope "workspace" or "session", not "${agent.scope}".`))
  }
  if (agent.runtime === 'lua' || agent.command.length === 0) {
    const reason = await entrypointProblem(effects, candidate.root, agent.entrypoint)
    if (reason !== undefined) problems.push(invalid(`agent.entrypoint: ${reason}`))
  } else if (agent.command[0] === '') {
    problems.push(invalid('agent.command: the program has no name.'))
  }
  if (agent.native !== undefined) {
    const reason = await entrypointProblem(effects, candidate.root, agent.native.entrypoint)
    if (reason !== undefined) problems.push(invalid(`agent.native.entrypoint: ${reason}`))
  }
  return problems
}

function incompatibilities({ apiVersion, platforms }: PackageManifest, os: string): PackageDiagnostic[] {
  const found: PackageDiagnostic[] = []
  if (apiVersion !== API_VERSION) {
    const message = `The package is written for plugin API ${apiVersion}; this server offers ${API_VERSION}.`
    found.push({ code: 'incompatible', message, action: 'Install a version of the package for this API.' })
  }
  const names = OS_NAMES[os] ?? [os]
  if (platforms.length > 0 && !platforms.some((platform) => names.includes(platform))) {
    const message = `The package is for ${platforms.join(', ')}; this server runs on ${names[0]}.`
    found.push({ code: 'incompatible', message })
  }
  return found
}

/** Rules in the order of the specification; undefined for a file inside the package. */
async function entrypointProblem({ files }: Pick<Effects, 'files'>, root: string, entrypoint: string): Promise<string | undefined> {
  const shown = JSON.stringify(entrypoint)
  if (entrypoint === '') return 'a path inside the package is required.'
  if (isAbsolute(entrypoint) || /^[A-Za-z]:/.test(entrypoint)) return `${shown} is absolute; it must be relative to the package.`
  if (entrypoint.split(sep).some((part) => part === '' || part === '.' || part === '..')) {
    return `${shown} must be plain names joined by "${sep}", without empty parts, "." and "..".`
  }
  let path: string
  try {
    path = await files.realPath(join(root, entrypoint))
  } catch {
    return `${shown} does not exist in the package.`
  }
  if (!path.startsWith(root + sep)) return `${shown} leads out of the package.`
  const stat = await files.stat(path)
  return stat?.kind === 'file' ? undefined : `${shown} is not a regular file.`
}

function invalid(message: string): PackageDiagnostic {
  return { code: 'invalid-manifest', message }
}
