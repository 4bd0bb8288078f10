import { CommandBus } from '@nestjs/cqrs';
import type { Role } from '../../../src/contexts/access/access.contract.js';
import { CreateOperator } from '../../../src/contexts/access/operators/operators.commands.js';
import { LoginSecrets } from '../../../src/contexts/access/console/console-sessions.store.js';
import { newId } from '../../../src/kernel/ids.js';
import { CONSOLE_PAGE } from '../../../src/platform/http/listeners.js';
import { PageListeners } from '../../../src/platform/http/http.module.js';
import type { TestApp } from '../app.js';
import { CookieClient } from './cookie-client.js';

export interface Operator {
  readonly id: string;
  readonly name: string;
  readonly email: string;
}

/** The console of a running service, and its operators. */
export class ConsoleSite {
  constructor(readonly app: TestApp) {}

  get origin(): string {
    return `http://localhost:${this.app.app.get(PageListeners, { strict: false }).portOf(CONSOLE_PAGE)}`;
  }

  async operator(role: Role = 'support', name = 'Ada'): Promise<Operator> {
    const id = newId();
    const email = `${id}@example.com`;
    await this.app.app.get(CommandBus).execute(new CreateOperator(id, { name, email, role }));
    return { id, name, email };
  }

  /** Creates a one-time link to the console. */
  link(id: string): Promise<string> {
    return this.app.app.get(LoginSecrets, { strict: false }).issueLink(id);
  }

  async token(id: string): Promise<string> {
    return new URL(await this.link(id)).hash.slice(1);
  }

  browser(): CookieClient {
    return new CookieClient(this.origin);
  }

  /** Signs a new operator in by a link, like the sandbox. */
  async signedIn(role?: Role): Promise<Operator & { readonly browser: CookieClient }> {
    const person = await this.operator(role);
    const browser = this.browser();
    const login = await browser.post('/login/link', { token: await this.token(person.id) });
    if (login.status !== 204) throw new Error(login.text);
    return { ...person, browser };
  }
}
