import { Injectable } from '@nestjs/common';
import { DomainError } from '../../../kernel/domain-error.js';
import { Fault } from '../../../kernel/fault.js';
import { inParallel } from '../../../kernel/in-parallel.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import type { AnyCommand } from '../../../platform/operations/operation.js';
import {
  Operations,
  type OperationOutcome,
  type OperationRequest,
} from '../../../platform/operations/operations.js';
import { Searches, type Found, type SearchQuery } from '../../../platform/operations/search.js';
import { type ErasedUser, type ExistingUser, type User, user } from './user.js';
import { UsersView, type UserFilter } from './users.view.js';
import { OnboardingProgress, type AdminUser, type AdminUsersResponse } from './user-json.view.js';
import { UserClaims } from './users.commands.js';
import { parsePhoneNumber } from './phone-number.service.js';
import { readExternalId } from './profile.service.js';

const AT_A_TIME = 16;
export const WALLET = /^0x[0-9a-f]{40}$/i;

export const PERSONAL_SCOPE = 'users_personal:read';

interface UsersFilter extends UserFilter {
  readonly phone_number?: string | undefined;
}

@Injectable()
export class AdminUsers {
  constructor(
    private readonly loop: CommandLoop,
    private readonly rows: UsersView,
    private readonly claims: UserClaims,
    private readonly onboardings: OnboardingProgress,
    private readonly operations: Operations,
  ) {}

  /** Returns a page, newest first. A phone number is found by keyed hash, but not for an erased user. */
  async page(
    merchants: readonly string[] | null,
    filter: UsersFilter,
    personal: boolean,
  ): Promise<AdminUsersResponse> {
    const { rows, next_cursor } = await this.listRows(merchants, filter);
    const [onboardings, people] = await Promise.all([
      this.onboardings.of(rows),
      personal
        ? inParallel(rows, AT_A_TIME, ({ id }) => this.loop.loadForDisplay(user, id))
        : rows.map(() => null),
    ]);
    const users = rows.map((row, n) => ({ ...row, ...toPersonal(people[n]!), onboarding: onboardings[n]! }));
    return { users, next_cursor };
  }

  /** Returns a user or throws `not_found`. `personal` must be false if the response is stored for repeats. */
  async get(userId: string, personal: boolean): Promise<{ readonly user: AdminUser }> {
    const found = await this.load(userId);
    const { user_id: id, merchant_id, external_id, created_at, account_state, issuer_wallet_address } = found;
    const row = { id, merchant_id, external_id, created_at, account_state, issuer_wallet_address };
    const [onboarding] = await this.onboardings.of([row]);
    return { user: { ...row, ...toPersonal(personal ? found : null), onboarding: onboarding! } };
  }

  async request(command: AnyCommand, write: Omit<OperationRequest, 'merchantId'>): Promise<OperationOutcome> {
    const { merchant_id: merchantId } = await this.load(command.subjectId);
    return this.operations.request(command, { ...write, merchantId });
  }

  private async load(userId: string): Promise<ExistingUser | ErasedUser> {
    const found = await this.loop.loadForDisplay(user, userId);
    if (found.account_state === 'unknown') throw DomainError.notFound('User');
    return found;
  }

  @Searches('users:read')
  async search({ text, uuid, phoneNumber, merchants, limit }: SearchQuery): Promise<readonly Found[]> {
    const listRows = (filter: Omit<UsersFilter, 'page_size'>) =>
      this.listRows(merchants, { ...filter, page_size: limit });
    const externalId = readExternalId(text);
    const phone = phoneNumber === null ? null : parsePhoneNumber(phoneNumber);
    const pages = await Promise.all([
      uuid === null ? null : listRows({ user_ids: [uuid] }),
      externalId instanceof Fault ? null : listRows({ external_id: externalId }),
      WALLET.test(text) ? listRows({ wallet: text }) : null,
      phone === null || phone instanceof Fault ? null : listRows({ phone_number: phone }),
    ]);
    const byId = new Map(pages.flatMap((page) => page?.rows ?? []).map((row) => [row.id, row]));
    return [...byId.values()].map(({ id, merchant_id, external_id, account_state }) => ({
      kind: 'user',
      id,
      merchant_id,
      title: `User ${external_id ?? id}, ${account_state}`,
    }));
  }

  private async listRows(merchants: readonly string[] | null, { phone_number, ...filter }: UsersFilter) {
    if (phone_number === undefined) return this.rows.page(merchants, filter);
    const user_ids = await this.claims.findHolders(phone_number, merchants ?? (await this.rows.merchants()));
    const page = await this.rows.page(merchants, { ...filter, user_ids });
    return { ...page, rows: page.rows.filter(({ account_state }) => account_state !== 'erased') };
  }
}

function toPersonal(state: User | null): Pick<AdminUser, 'phone_number' | 'email'> {
  if (state === null || !('phone_number' in state)) return { phone_number: null, email: null };
  return { phone_number: state.phone_number, email: state.email };
}
