/** Programs of which an option may start another program or write a file, and where free text may stand instead of one. */

const DECIDING = new Set(
  'git find tar gtar bsdtar rsync scp sftp sort man rg fd fdfind ag bat split zip sed gsed awk gawk mawk nawk curl wget tree uniq base64 xxd less make'.split(
    ' ',
  ),
)

const TEXT_AFTER: Readonly<Record<string, RegExp>> = {
  git: /^(?:-[a-zA-Z]*m|--message|--author|--date|--grep|--since|--until|-n|-S|-G)$/,
  find: /^-(?:i?name|i?path|i?regex|newer|size|[acm]?time|[acm]?min|maxdepth|mindepth|type|perm|user|group)$/,
  sort: /^-[kt]$/,
  curl: /^(?:-H|--header|-X|--request|-A|--user-agent)$/,
  rg: /^-[egtmABC]$/,
  awk: /^-[vF]$/,
}

export function optionsDecide(program: string): boolean {
  return DECIDING.has(program)
}

/** True when the word after `previous` is text, however it begins. */
export function takesText(program: string, previous: string): boolean {
  return TEXT_AFTER[program]?.test(previous) === true
}
