import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { freePort, startDaemon, stopProcess, until, type Daemon } from '../../../../sandbox/processes.js';
import { Tally } from '../verdict.js';
import type { Member } from './member.js';

const CHECK_EVERY_MS = 200;

/**
 * haproxy in front of the servers. It checks an agent for each server, as it checks Patroni's, and not the server: a former
 * primary that continues believes that it still is one. Sessions with a server that is not the primary are cut.
 */
export class LeaderProxy {
  /** Where the proxy leads; nowhere while there is none. */
  leader: Member | null = null;
  private readonly agents: Server[] = [];
  private readonly checks = new Tally();
  private daemon: Daemon | null = null;
  private chosenPort = 0;

  get port(): number {
    return this.chosenPort;
  }

  async start(dir: string, members: readonly Member[]): Promise<void> {
    if (spawnSync('haproxy', ['-v']).status !== 0)
      throw new Error('haproxy is missing: install it (Debian: apt-get install haproxy)');
    const servers: string[] = [];
    for (const member of members) {
      const agent = await freePort();
      this.agents.push(await this.listen(member, agent));
      servers.push(`server ${member.name} 127.0.0.1:${member.port} check port ${agent}`);
    }
    this.chosenPort = await freePort();
    const config = join(dir, 'haproxy.cfg');
    writeFileSync(config, configuration(this.chosenPort, servers));
    this.daemon = startDaemon({
      command: 'haproxy',
      args: ['-db', '-f', config],
      cwd: dir,
      logFile: join(dir, 'haproxy.log'),
      env: { PATH: process.env['PATH'] },
    });
    // Until the first check of a server it counts as up: the second one says that the first one has ended.
    const knows = (): boolean => members.every(({ name }) => this.checks.of(name) > 1);
    if (!(await until(knows, 10_000)))
      throw new Error(`haproxy did not start (${this.daemon.exited() ?? 'no response'}): see ${dir}`);
  }

  async stop(): Promise<void> {
    if (this.daemon !== null) await stopProcess(this.daemon.pid, [['SIGKILL', 5000]]);
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

/** docs/production.md has the same, as an example. */
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
