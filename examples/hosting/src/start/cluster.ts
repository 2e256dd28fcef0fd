/** A PostgreSQL of one's own: made and started as an ordinary user, because it refuses to run as root. */
import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'

export interface Cluster {
  readonly url: string
  stop(): void
  restart(): void
}

interface ClusterOptions {
  readonly folder: string
  readonly port: number
  readonly password: string
}

const NOBODY = 65_534
const DEBIAN = '/usr/lib/postgresql'

/** Where `initdb` and `pg_ctl` stand; undefined where they are not installed. */
export function findPrograms(): string | undefined {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).toSorted((a, b) => Number(b) - Number(a)) : []
  const folders = [...versions.map((version) => join(DEBIAN, version, 'bin')), ...(process.env['PATH'] ?? '').split(delimiter)]
  return folders.find((folder) => ['initdb', 'pg_ctl', 'postgres'].every((program) => existsSync(join(folder, program))))
}

export function startCluster({ folder, port, password }: ClusterOptions): Cluster {
  const found = findPrograms()
  if (found === undefined) throw new Error('PostgreSQL is not installed: apt-get install postgresql')
  const programs = found
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
  const data = join(folder, 'data')

  function run(program: string, ...args: readonly string[]): void {
    // pg_ctl leaves a server behind that keeps what it inherits: its output goes to a file of its own.
    const { status, stderr, error } = spawnSync(join(programs, program), args, {
      ...user,
      cwd: folder,
      env: { PATH: process.env['PATH'], LC_ALL: 'C' },
      stdio: ['ignore', 'ignore', program === 'pg_ctl' ? 'ignore' : 'pipe'],
      encoding: 'utf8',
    })
    if (status !== 0) throw new Error(`${program} ${args[0] ?? ''} failed: ${error?.message ?? stderr ?? ''} (see ${folder})`)
  }

  const control = (what: string, ...args: readonly string[]) =>
    run('pg_ctl', what, '-D', data, '-w', '-l', join(folder, 'postgres.log'), ...args)

  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid)
  if (!existsSync(join(data, 'PG_VERSION'))) {
    const file = join(folder, 'password')
    writeFileSync(file, password, { mode: 0o600 })
    if (user.uid !== undefined) chownSync(file, user.uid, user.gid)
    run('initdb', '-D', data, '-A', 'scram-sha-256', '-U', 'svc', `--pwfile=${file}`, '-E', 'UTF8', '--locale=C')
    const settings = ["listen_addresses = '127.0.0.1'", `port = ${port}`, "unix_socket_directories = ''", 'max_connections = 100']
    writeFileSync(join(data, 'postgresql.auto.conf'), `${settings.join('\n')}\n`, { mode: 0o600 })
    chmodSync(join(data, 'postgresql.auto.conf'), 0o600)
    if (user.uid !== undefined) chownSync(join(data, 'postgresql.auto.conf'), user.uid, user.gid)
  }
  control('start')
  return {
    url: `postgres://svc:${password}@127.0.0.1:${port}/postgres`,
    stop: () => control('stop', '-m', 'fast'),
    restart: () => control('restart', '-m', 'fast'),
  }
}
