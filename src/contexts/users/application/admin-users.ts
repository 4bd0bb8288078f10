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
import { type ErasedUser, type ExistingUser, user } from '../domain/user.js';
import { UserRows, type UserFilter } from '../views/user-rows.js';
import { adminUserJson, type AdminUser, type AdminUsersResponse } from './admin-user-json.js';
import { LocateUser } from './locate-user.js';
import { OnboardingProgress } from './onboarding-progress.js';
import { parsePhoneNumber } from './phone-number.js';
import { readExternalId } from './profile.js';

/** Streams of users that a list reads at a time. */
const AT_A_TIME = 16;
const WALLET = /^0x[0-9a-f]{40}$/i;

/** Who sees personal data. */
export const PERSONAL_SCOPE = 'users_personal:read';

interface UsersFilter extends UserFilter {
  /** E.164. */
  readonly phoneNumber?: string | undefined;
}

/** An operation on a user, but for whose the user is. */
export type UserWrite = Omit<OperationRequest, 'merchantId'>;

/** Users as operators see them, of any merchant. */
@Injectable()
export class AdminUsers {
  constructor(
    private readonly loop: CommandLoop,
    private readonly rows: UserRows,
    private readonly locate: LocateUser,
    private readonly onboardings: OnboardingProgress,
    private readonly operations: Operations,
  ) {}

  /**
   * A page, newest first. Personal data is read from the users' own streams, where `personal` says so: the read model has
   * none. A phone number finds who has it now, by keyed hashes: an erased user is not found by it.
   */
  async page(filter: UsersFilter, personal: boolean): Promise<AdminUsersResponse> {
    const { rows, next_cursor } = await this.rowsOf(filter);
    const [onboardings, people] = await Promise.all([
      this.onboardings.of(rows),
      personal
        ? inParallel(rows, AT_A_TIME, ({ userId }) => this.loop.loadForDisplay(user, userId))
        : rows.map(() => null),
    ]);
    const users = rows.map((row, n) => adminUserJson(row, personalOf(people[n]!), onboardings[n]!));
    return { users, next_cursor };
  }

  /** Throws `not_found`. */
  async find(userId: string): Promise<ExistingUser | ErasedUser> {
    const found = await this.loop.loadForDisplay(user, userId);
    if (found.accountState === 'unknown') throw DomainError.notFound('User');
    return found;
  }

  /** Throws what {@link find} and `Operations.request` throw. */
  async request(command: AnyCommand, write: UserWrite): Promise<OperationOutcome> {
    const { merchantId } = await this.find(command.subjectId);
    return this.operations.request(command, { ...write, merchantId });
  }

  /** What a write responds: without personal data, because it is stored under an Idempotency-Key. */
  async written(userId: string): Promise<{ readonly user: AdminUser }> {
    return { user: await this.json(await this.find(userId), false) };
  }

  async json(found: ExistingUser | ErasedUser, personal: boolean): Promise<AdminUser> {
    const { accountState: state, issuerWalletAddress: wallet } = found;
    const row = { ...found, state, wallet, createdAt: new Date(found.createdAt) };
    const [onboarding] = await this.onboardings.of([row]);
    return adminUserJson(row, personal ? personalOf(found) : null, onboarding!);
  }

  /** Users by id, external id, wallet and phone number. */
  @Searches('users:read')
  async search({ text, uuid, phoneNumber, merchants, limit }: SearchQuery): Promise<readonly Found[]> {
    const all = { merchantIds: merchants, pageSize: limit };
    const externalId = readExternalId(text);
    const phone = phoneNumber === null ? null : parsePhoneNumber(phoneNumber);
    const pages = await Promise.all([
      uuid === null ? null : this.rowsOf({ ...all, userIds: [uuid] }),
      externalId instanceof Fault ? null : this.rowsOf({ ...all, externalId }),
      WALLET.test(text) ? this.rowsOf({ ...all, wallet: text }) : null,
      phone === null || phone instanceof Fault ? null : this.rowsOf({ ...all, phoneNumber: phone }),
    ]);
    const byId = new Map(pages.flatMap((page) => page?.rows ?? []).map((row) => [row.userId, row]));
    return [...byId.values()].map(({ userId: id, merchantId: merchant_id, externalId: name, state }) => ({
      kind: 'user',
      id,
      merchant_id,
      title: `User ${name ?? id}, ${state}`,
    }));
  }

  private async rowsOf({ phoneNumber, ...filter }: UsersFilter) {
    if (phoneNumber === undefined) return this.rows.page(filter);
    const merchantIds = filter.merchantIds ?? (await this.rows.merchants());
    const userIds = await this.locate.holdersOf(phoneNumber, merchantIds);
    const page = await this.rows.page({ ...filter, userIds });
    return { ...page, rows: page.rows.filter(({ state }) => state !== 'erased') };
  }
}

function personalOf(
  state: ExistingUser | ErasedUser | { readonly accountState: 'unknown' } | null,
): Pick<ExistingUser, 'phoneNumber' | 'email'> | null {
  return state !== null && 'phoneNumber' in state ? state : null;
}
