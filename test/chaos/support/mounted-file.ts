/** The command, in a mount namespace in which `place` has the contents of `file`: it requires root. It keeps its pid. */
export function withFileAt(
  place: string,
  file: string,
  command: readonly string[],
): { readonly command: string; readonly args: readonly string[] } {
  const script = 'mount --bind "$0" "$1" && shift && exec "$@"';
  return { command: 'unshare', args: ['-m', 'sh', '-c', script, file, place, ...command] };
}
