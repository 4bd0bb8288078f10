import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { PostgresOptions } from '../../../../sandbox/postgres-cluster.js';
import type { RunningPostgres } from '../../../../sandbox/postgres.js';
import { until, freePort } from '../../../../sandbox/processes.js';
import { Member } from './member.js';
import { Haproxy } from '../haproxy.js';
import { Tally } from '../verdict.js';

const CHECK_EVERY_MS = 200;

/**
 * haproxy in front of the servers. It checks an agent for each server, as with Patroni, because a former
 * primary still acts as one. It closes sessions with any other server.
 */
class LeaderProxy {
  /** The current primary; null while there is none. */
  leader: Member | null = null;
  private readonly agents: Server[] = [];
  private readonly checks = new Tally();
  private haproxy: Haproxy | null = null;
  private chosenPort = 0;

  get port(): number {
    return this.chosenPort;
  }

  async start(dir: string, members: readonly Member[]): Promise<void> {
    const servers: string[] = [];
    for (const member of members) {
      const agent = await freePort();
      this.agents.push(await this.listen(member, agent));
      servers.push(`server ${member.name} 127.0.0.1:${member.port} check port ${agent}`);
    }
    this.chosenPort = await freePort();
    // A server counts as up until its first check. The second check proves that the first has ended.
    const knows = (): boolean => members.every(({ name }) => this.checks.of(name) > 1);
    this.haproxy = await Haproxy.start(dir, configuration(this.chosenPort, servers), knows);
  }

  async stop(): Promise<void> {
    await this.haproxy?.stop();
    for (const agent of this.agents) agent.close().closeAllConnections();
  }

  private async listen(member: Member, port: number): Promise<Server> {
    const agent = createServer((_, response) => {
      this.checks.add(member.name);
      response.writeHead(this.leader === member ? 200 : 503, { connection: 'close' }).end();
    });
    agent.listen(port, '127.0.0.1');
    await once(agent, 'listening');
    return agent;
  }
}

/** The example of docs/production.md. */
function configuration(port: number, servers: readonly string[]): string {
  return `defaults
  mode tcp
  timeout connect 2s
  timeout check 2s
  retries 0
  timeout client 1h
  timeout server 1h
listen primary
  bind 127.0.0.1:${port}
  option httpchk GET /primary
  default-server inter ${CHECK_EVERY_MS}ms fall 1 rise 1 on-marked-down shutdown-sessions
  ${servers.join('\n  ')}
`;
}

const NAMES = ['a', 'b', 'c'] as const;
/** The failed probes in a row, 1 s each, after which the primary counts as lost. */
const PROBES = 3;
const PROBE_MS = 1000;
const PROBE_EVERY_MS = 250;
const STREAMING_MS = 60_000;

/** A primary and two standbys behind a proxy. One standby has each commit before it is acknowledged. */
export class ReplicatedPostgres implements RunningPostgres {
  readonly origin = 'created';
  private readonly proxy = new LeaderProxy();

  private constructor(
    private readonly members: readonly Member[],
    private current: Member,
  ) {}

  static async start(options: PostgresOptions): Promise<ReplicatedPostgres> {
    mkdirSync(options.dir, { recursive: true, mode: 0o711 });
    const members = NAMES.map(
      (name) => new Member(name, NAMES, { ...options, dir: join(options.dir, name) }),
    );
    const [first, ...others] = members as [Member, ...Member[]];
    const cluster = new ReplicatedPostgres(members, first);
    try {
      await first.start();
      for (const standby of others) {
        mkdirSync(join(options.dir, standby.name));
        await standby.rebuildFrom(first);
      }
      await first.requireQuorum();
      cluster.proxy.leader = first;
      await cluster.proxy.start(options.dir, members);
      await cluster.streams();
    } catch (error) {
      await cluster.stop();
      throw error;
    }
    return cluster;
  }

  get primary(): Member {
    return this.current;
  }

  get pid(): number {
    return this.current.pid;
  }

  get port(): number {
    return this.proxy.port;
  }

  url(database: string): string {
    return this.current.url(database).replace(`:${this.current.port}/`, `:${this.port}/`);
  }

  async primaryIsLost(): Promise<void> {
    for (let failed = 0; failed < PROBES;) {
      const responds = await this.current.query('select 1', PROBE_MS).then(
        () => true,
        () => false,
      );
      failed = responds ? 0 : failed + 1;
      if (failed < PROBES) await sleep(PROBE_EVERY_MS);
    }
  }

  /**
   * Promotes the standby that received more, and returns the former primary. Both standbys stop receiving
   * first. Then the former primary has no quorum, and they have all acknowledged commits.
   */
  async promote(): Promise<Member> {
    const former = this.current;
    this.proxy.leader = null;
    const standbys = this.members.filter((each) => each !== former);
    await Promise.all(standbys.map((each) => each.follow(null)));
    const received = await Promise.all(standbys.map((each) => each.received()));
    const [chosen, other] = (received[0]! >= received[1]! ? standbys : standbys.reverse()) as [
      Member,
      Member,
    ];
    await Promise.all([chosen.promote(), other.follow(chosen)]);
    this.current = chosen;
    this.proxy.leader = chosen;
    return former;
  }

  /** Converts it to a standby once its processes have ended. Resolves when both standbys stream. */
  async rebuild(former: Member): Promise<void> {
    await former.rebuildFrom(this.current);
    await this.streams();
  }

  async stop(): Promise<void> {
    await this.proxy.stop();
    for (const member of this.members) await member.kill();
  }

  private async streams(): Promise<void> {
    const both = async (): Promise<boolean> => {
      const rows = await this.current.query(
        `select from pg_stat_replication where state = 'streaming' and sync_state = 'quorum'`,
      );
      return rows.length === NAMES.length - 1;
    };
    if (!(await until(both, STREAMING_MS))) throw new Error('a standby does not stream');
  }
}
