/** `svc token`: the tokens of a token file. What is secret is printed once, by whoever makes it. */
import { createHash, randomBytes } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import type { TokenEntry } from '../../../actors/tenancy/tenants/token-document.js'
import { QUOTAS } from '../../../protocol/caller.js'
import { SvcError } from '../../../protocol/errors.js'
import { printable } from '../../../protocol/text/visible-text.js'
import { jsonText, writeError, writeOut } from '../../terminal/output.js'
import { columns } from '../plugin/plugin-words.js'
import type { TokenOptions } from './token-arguments.js'
import { changeTokens, readTokens, tokenPath } from './token-store.js'

const BYTES = 32
const ID = 12

/** Runs one action; answers the exit code: 0 done, 1 there is nothing of it. */
export async function token(options: TokenOptions): Promise<number> {
  const path = tokenPath(options.file)
  switch (options.action) {
    case 'create':
      return create(path, options)
    case 'list':
      return list(path, options.json)
    case 'revoke':
      return revoke(path, options)
  }
}

async function create(path: string, { tenant, directories, quotas, json }: TokenOptions & { action: 'create' }): Promise<number> {
  const made: TokenEntry = {
    token: `svct_${randomBytes(BYTES).toString('base64url')}`,
    tenantId: tenant,
    directoryPrefixes: [...new Set(directories.map(directoryAt))],
    ...quotas,
  }
  await changeTokens(path, (before) => [[...before, made], undefined])
  if (json) writeOut(`${jsonText({ id: idOf(made), ...made }, 2)}\n`)
  else {
    writeError(`token ${idOf(made)} of ${printable(tenant)} is in ${printable(path)}; it is shown this once:\n`)
    writeOut(`${made.token}\n`)
    if (directories.length === 0) writeError('it may use no directory: name those it may use with --directory\n')
  }
  return 0
}

async function list(path: string, json: boolean): Promise<number> {
  const tokens = await readTokens(path)
  if (tokens === undefined) throw new SvcError('resource.not_found', `there is no token file at ${path}: svc token create makes one`)
  const shown = tokens.map(({ token: secret, ...others }) => ({ id: idOf({ token: secret }), ...others }))
  if (json) writeOut(`${jsonText(shown, 2)}\n`)
  else if (shown.length === 0) writeOut('no token is in the file: nobody but the operator is let in\n')
  else
    writeOut(
      columns([
        ['ID', 'TENANT', 'DIRECTORIES', 'QUOTAS'],
        ...shown.map(({ id, tenantId, directoryPrefixes, ...quotas }) => [
          id,
          tenantId,
          directoryPrefixes.map(printable).join(' ') || 'none',
          QUOTAS.flatMap((name) => (quotas[name] === undefined ? [] : [`${name}=${quotas[name]}`])).join(' ') || 'none',
        ]),
      ]),
    )
  return 0
}

async function revoke(path: string, { id, json }: TokenOptions & { action: 'revoke' }): Promise<number> {
  const isRevoked = await changeTokens(path, (before) => {
    const after = before.filter((each) => idOf(each) !== id)
    return after.length === before.length ? [before, false] : [after, true]
  })
  if (json) writeOut(`${jsonText({ id, revoked: isRevoked }, 2)}\n`)
  else if (isRevoked) writeOut(`token ${id} is revoked; a running server notices within seconds\n`)
  else writeError(`there is no token ${printable(id)} in the file: svc token list\n`)
  return isRevoked ? 0 : 1
}

/** What a token is called: nobody finds a token by it that was made here. */
function idOf({ token: secret }: Pick<TokenEntry, 'token'>): string {
  return createHash('sha256').update(secret).digest('hex').slice(0, ID)
}

function directoryAt(named: string): string {
  try {
    return realpathSync(named)
  } catch {
    throw new SvcError('request.invalid', `there is no directory ${resolve(named)}`)
  }
}
