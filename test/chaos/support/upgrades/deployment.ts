import { readdirSync, mkdirSync, symlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Credentials } from '../../../../bench/support/sign.js';
import { freePort } from '../../../../sandbox/processes.js';
import type { ServiceOptions, ServiceProcess } from '../../../../bench/support/service.js';
import type { Shared } from '../shared.js';
import type { Verdict } from '../verdict.js';
import { eventually } from '../../../../bench/support/wait.js';
import { Haproxy } from '../haproxy.js';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));

/** Returns the newest tag before this commit. Throws without one. */
export function newestTag(): string {
  const { status, stdout } = spawnSync('git', ['describe', '--tags', '--abbrev=0', 'HEAD^'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error('there is no tag before this commit: name a commit with --from');
  return stdout.trim();
}

export function buildRelease(ref: string, folder: string): string {
  mkdirSync(folder);
  const archive = join(folder, 'release.tar');
  execFileSync('git', ['archive', '--output', archive, ref], { cwd: ROOT });
  execFileSync('tar', ['-xf', archive], { cwd: folder });
  const run = (...args: string[]): unknown => execFileSync('npm', args, { cwd: folder, stdio: 'pipe' });
  if (hasSameDependencies(ref)) symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  else run('ci', '--no-audit', '--no-fund');
  run('run', 'build');
  return join(folder, 'dist', 'main.js');
}

const hasSameDependencies = (ref: string): boolean =>
  spawnSync('git', ['diff', '--quiet', ref, '--', 'package-lock.json'], { cwd: ROOT }).status === 0;

const CHECK_EVERY_MS = 250;

/** A process that serves while `/health/ready` is 200 and it is not drained. */
interface Backend {
  readonly name: string;
  readonly port: number;
}

/** haproxy in front of processes with `ROLES=api`, in place of an Ingress or a load balancer. */
class Balancer {
  private constructor(
    readonly port: number,
    private readonly socket: string,
    private readonly haproxy: Haproxy,
  ) {}

  static async start(dir: string, backends: readonly Backend[]): Promise<Balancer> {
    mkdirSync(dir);
    const port = await freePort();
    const socket = join(dir, 'admin.sock');
    const config = configuration(port, socket, backends);
    const isUp = (): Promise<boolean> =>
      runtime(socket, 'show info').then(
        () => true,
        () => false,
      );
    return new Balancer(port, socket, await Haproxy.start(dir, config, isUp));
  }

  /** Routes new requests to others. Requests in flight end where they are. */
  async drain({ name }: Backend): Promise<void> {
    await runtime(this.socket, `set server api/${name} state drain`);
  }

  async admit({ name }: Backend): Promise<void> {
    await runtime(this.socket, `set server api/${name} state ready`);
    await eventually(`${name} gets requests`, async () => {
      const rows = (await runtime(this.socket, 'show stat')).split('\n').map((row) => row.split(','));
      return rows.some(
        ([proxy, server, ...rest]) => proxy === 'api' && server === name && rest.includes('UP'),
      );
    });
  }

  async stop(): Promise<void> {
    await this.haproxy.stop();
  }
}

async function runtime(socket: string, command: string): Promise<string> {
  const connection = connect(socket);
  connection.write(`${command}\n`);
  return text(connection);
}

function configuration(port: number, socket: string, backends: readonly Backend[]): string {
  const servers = backends.map(({ name, port: at }) => `server ${name} 127.0.0.1:${at} check`);
  return `global
  stats socket ${socket} mode 600 level admin
defaults
  mode http
  timeout connect 2s
  timeout check 5s
  timeout client 1h
  timeout server 1m
  retries 3
  option redispatch
listen api
  bind 127.0.0.1:${port}
  option httpchk GET /health/ready
  default-server inter ${CHECK_EVERY_MS}ms fall 2 rise 2
  ${servers.join('\n  ')}
`;
}

/** Two API processes and one per other role, in the order in which docs/upgrading.md replaces them. */
const ROLES = ['worker', 'api', 'api', 'widget', 'admin', 'portal'] as const;
/** A preStop hook waits until balancers have noticed the end of a pod. */
const DRAIN_MS = 1000;

export type Release = Pick<ServiceOptions, 'name' | 'main'>;

/** A process of one release, with fixed ports for the API and metrics. */
interface Place {
  readonly name: string;
  readonly role: (typeof ROLES)[number];
  readonly port: number;
  readonly metricsPort: number;
  readonly process: ServiceProcess;
}

/** The processes of two releases on one database. A role runs in both only during its replacement. */
export class Deployment {
  private constructor(
    private readonly places: ReadonlyMap<Release, readonly Place[]>,
    private readonly balancer: Balancer,
    private readonly verdict: Verdict,
    readonly merchant: Credentials,
  ) {}

  static async start(
    shared: Shared,
    env: Readonly<Record<string, string>>,
    releases: readonly [Release, Release],
    verdict: Verdict,
  ): Promise<Deployment> {
    const places = new Map<Release, Place[]>();
    for (const release of releases) places.set(release, await placesOf(release, shared, env));
    const backends = [...places.values()].flat().filter(({ role }) => role === 'api');
    const starting = Balancer.start(shared.environment.folder('balancer'), backends);
    const balancer = await shared.ends.start(starting);
    const first = places.get(releases[0])!;
    for (const place of first) await run(place, balancer);
    const { process: api } = first.find(({ role }) => role === 'api')!;
    await api.registered();
    return new Deployment(places, balancer, verdict, api.merchant);
  }

  get port(): number {
    return this.balancer.port;
  }

  /** Replaces one process after the other, each once the new one is ready. */
  async replace(former: Release, next: Release): Promise<void> {
    for (const [index, place] of this.places.get(next)!.entries()) {
      await run(place, this.balancer);
      await this.terminate(this.places.get(former)![index]!);
    }
  }

  async end(release: Release): Promise<void> {
    for (const place of this.places.get(release)!) await this.terminate(place);
  }

  private async terminate(place: Place): Promise<void> {
    if (place.role === 'api') {
      await this.balancer.drain(place);
      await sleep(DRAIN_MS);
    }
    this.verdict.equal(await place.process.stop(), 'exit code 0', `SIGTERM ends ${place.name}`);
  }
}

/** A process starts on separate cores in production. Here it has the lowest priority until it is ready. */
const STARTS_ASIDE: Pick<ServiceOptions, 'command'> =
  process.getuid?.() === 0 ? { command: ['nice', '-n', '19', process.execPath] } : {};

function prioritize({ pid }: ServiceProcess): void {
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      setPriority(Number(thread), 0);
    } catch {
      // The process has ended.
    }
  }
}

async function run(place: Place, balancer: Balancer): Promise<void> {
  await place.process.spawn();
  await place.process.ready(`http://127.0.0.1:${place.metricsPort}/health/ready`);
  if (STARTS_ASIDE.command !== undefined) prioritize(place.process);
  if (place.role === 'api') await balancer.admit(place);
}

async function placesOf(
  { name: release, ...program }: Release,
  shared: Shared,
  env: Readonly<Record<string, string>>,
): Promise<Place[]> {
  const places: Place[] = [];
  for (const [index, role] of ROLES.entries()) {
    const name = `${release}-${index}-${role}`;
    const [port, metricsPort] = [await freePort(), await freePort()];
    const own = { ...env, ROLES: role, PORT: String(port), METRICS_PORT: String(metricsPort) };
    places.push({
      name,
      role,
      port,
      metricsPort,
      process: shared.process(name, own, { ...program, ...STARTS_ASIDE }),
    });
  }
  return places;
}
