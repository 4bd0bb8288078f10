import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { freePort } from '../../../../sandbox/processes.js';
import { Haproxy } from '../haproxy.js';
import { Tally } from '../verdict.js';
import type { Member } from './member.js';

const CHECK_EVERY_MS = 200;

/**
 * haproxy in front of the servers. It checks an agent for each server, as with Patroni, because a former primary still
 * acts as one. Sessions with any other server are cut.
 */
export class LeaderProxy {
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
    // A server counts as up until its first check; the second check proves that the first has ended.
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
