// The programs of the system that suites of the second tier use, and the packages of Debian that have them.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { findProgram } from '../../test/support/programs/find-program.mjs';
import { printLine, step } from './terminal.mjs';

const SPRIG = '/usr/share/gocode/src/github.com/Masterminds/sprig';
const hasProgram = (name) => () => findProgram(name) !== null;

/** Each with the packages to install, and how to find out whether it is there. */
const SYSTEM_PROGRAMS = [
  ...['redis-server', 'python3', 'openssl', 'curl'].map((name) => [name, [name], hasProgram(name)]),
  ['chromium', ['chromium'], () => Boolean(process.env.CHROMIUM) || findProgram('chromium') !== null],
  ['ip', ['iproute2'], hasProgram('ip')],
  [
    'go with sprig',
    ['golang-go', 'golang-github-masterminds-sprig-dev', 'golang-k8s-sigs-yaml-dev'],
    () => findProgram('go') !== null && existsSync(SPRIG),
  ],
];
/** Installs one program of Debian's package prometheus, which would start a server. */
const PROMTOOL = `cd "$(mktemp -d)" && apt-get download -qq prometheus &&
  dpkg-deb --fsys-tarfile prometheus_*.deb | tar -xO ./usr/bin/promtool >promtool && install promtool /usr/local/bin`;

/** Installs what is missing where this is root on Debian. Suites without their program are left out, and say so. */
export async function installSystemPackages() {
  const missing = SYSTEM_PROGRAMS.filter(([, , isThere]) => !isThere());
  const needsPromtool = findProgram('promtool') === null;
  const names = [...missing.map(([name]) => name), ...(needsPromtool ? ['promtool'] : [])];
  if (names.length === 0) return;
  if (process.getuid?.() !== 0 || findProgram('apt-get') === null) {
    printLine(
      `  Not installed, and this is not root on Debian: ${names.join(', ')}. Their suites are left out.`,
    );
    return;
  }
  printLine(`  apt-get installs ${names.join(', ')}`);
  await step('Programs', () => {
    const packages = missing.flatMap(([, each]) => each).join(' ');
    const script = [
      'apt-get update -qq',
      ...(packages === '' ? [] : [`apt-get install -y -qq --no-install-recommends ${packages}`]),
      ...(needsPromtool ? [PROMTOOL] : []),
    ].join('\n');
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    const { status } = spawnSync('sh', ['-c', script], { env, stdio: 'ignore' });
    return status === 0 ? 'installed' : 'some could not be installed';
  });
}
