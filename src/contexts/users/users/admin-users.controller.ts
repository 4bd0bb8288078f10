import { Fault } from '../../../kernel/fault.js';
import { tidy } from '../../../kernel/typed-text.js';
import { text, uuid, oneOf } from '../../../platform/dto/rules.js';
import { Filter, ListParameters } from '../../../platform/http/list-query.js';
import { readExternalId } from './profile.service.js';
import { parsePhoneNumber } from './phone-number.service.js';
import { Get, Post } from '@nestjs/common';
import {
  AdminController,
  Caller,
  listed,
  WriteTo,
  type AdminCaller,
  type SubjectWrite,
} from '../../../platform/http/admin/admin.guard.js';
import { OperationResponse } from '../../../platform/operations/displayed-operation.js';
import { WriteBody, toWrite, written } from '../../../platform/http/admin/writes.js';
import { ListQuery, UuidParam, ValidBody } from '../../../platform/http/decorators.js';
import { Reach, Reads } from '../../../platform/http/reads.js';
import type { Reply } from '../../../platform/http/reply.js';
import { ApiRoute } from '../../../platform/openapi/route.js';
import type { AnyCommand } from '../../../platform/operations/operation.js';
import { EraseUser, StartDeactivation } from './users.commands.js';
import { requireScopes } from '../../../platform/operations/scopes.js';
import { AdminUserResponse, AdminUsersResponse, AdminUserWritten } from './user-json.view.js';
import { AdminUsers, PERSONAL_SCOPE, WALLET } from './admin-users.service.js';
import { userStreams } from './user.js';
import { USER_STATES, USERS_VIEW, type UserState } from './users.view.js';

const TAG = 'Admin: users';
const USER = 'User';
const NO_USER = 'There is no such user, or the key is confined to other merchants.';
const REFUSED_WRITES = {
  404: NO_USER,
  412: 'If-Match is another revision.',
  422: 'reason or ticket is invalid.',
  428: 'If-Match is missing.',
} as const;

/** The rule for a phone number. An unescaped plus arrives as a space. */
const phoneRule = text({ examples: ['+15550001111'] }, (value) => parsePhoneNumber(value.replace(/^ /, '+')));
const walletRule = text({ pattern: WALLET.source }, (value) =>
  WALLET.test(tidy(value)) ? tidy(value) : new Fault('must be an address: 0x and 40 hexadecimal digits'),
);

class UsersQuery extends ListParameters {
  @Filter(uuid, 'Only users of this merchant.') merchant_id?: string;

  @Filter(
    phoneRule,
    'Only who has this phone number now, in E.164 form. It needs the scope users_personal:read.',
  )
  phone_number?: string;

  @Filter(text({}, readExternalId), "Only users with this id of their merchant's own.") external_id?: string;
  @Filter(walletRule, 'Only the user with this issuer wallet address, in either letter case.')
  wallet?: string;
  @Filter(oneOf(USER_STATES), 'Only users in this state.') state?: UserState;
}

/** The users of all merchants (admin-api.md 3). Each read is recorded for the merchant's portal. */
@AdminController('users')
export class AdminUsersController {
  constructor(private readonly users: AdminUsers) {}

  @Get()
  @ApiRoute({
    id: 'adminListUsers',
    tag: TAG,
    summary: 'List users, newest first',
    description: 'phone_number and email are null without the scope users_personal:read.',
    scopes: ['users:read'],
    responses: listed(AdminUsersResponse, {
      404: 'The key is confined to other merchants than that of merchant_id.',
      403: 'A scope is missing: users:read, or users_personal:read for phone_number.',
    }),
  })
  @Reads({ view: USERS_VIEW, mayBeLate: true, lookup: 'users' })
  async list(
    @Caller() caller: AdminCaller,
    @Reach() merchants: readonly string[] | null,
    @ListQuery() query: UsersQuery,
  ): Promise<AdminUsersResponse> {
    if (query.phone_number !== undefined) requireScopes(caller, [PERSONAL_SCOPE]);
    return this.users.page(merchants, query, caller.scopes.has(PERSONAL_SCOPE));
  }

  @Get(':id')
  @ApiRoute({
    id: 'adminGetUser',
    tag: TAG,
    summary: 'Get a user',
    scopes: ['users:read'],
    responses: { 200: [AdminUserResponse, 'The user; the ETag is its revision.'], 404: NO_USER },
  })
  @Reads({ view: null, lookup: 'user', etag: userStreams })
  async get(@Caller() caller: AdminCaller, @UuidParam('id', USER) id: string): Promise<AdminUserResponse> {
    return this.users.get(id, caller.scopes.has(PERSONAL_SCOPE));
  }

  @Post(':id/deactivate')
  @ApiRoute({
    id: 'adminDeactivateUser',
    tag: TAG,
    summary: 'Deactivate a user',
    description:
      'No more payouts are accepted for the user, who is deactivated once none is pending. There is no way back.',
    scopes: ['users:write'],
    responses: {
      200: [AdminUserWritten, 'The user is deactivating. Personal data is left out.'],
      409: 'The user is deactivating or deactivated already.',
      ...REFUSED_WRITES,
    },
  })
  async deactivate(@WriteTo(USER) write: SubjectWrite, @ValidBody() body: WriteBody): Promise<Reply> {
    return this.request(new StartDeactivation(write.subject.id), write, body);
  }

  @Post(':id/erase')
  @ApiRoute({
    id: 'adminEraseUser',
    tag: TAG,
    summary: 'Erase a deactivated user for good',
    description:
      'All personal data is dropped; payouts stay. The merchant API responds with 404 for the user from then on. A second person approves it.',
    scopes: ['users:write'],
    responses: {
      200: [AdminUserWritten, 'The user is erased: approvals are off, in the sandbox.'],
      202: [OperationResponse, 'It waits for a second person.'],
      409: 'The user is not deactivated.',
      ...REFUSED_WRITES,
    },
  })
  async erase(@WriteTo(USER) write: SubjectWrite, @ValidBody() body: WriteBody): Promise<Reply> {
    return this.request(new EraseUser(write.subject.id), write, body);
  }

  private async request(command: AnyCommand, write: SubjectWrite, body: WriteBody): Promise<Reply> {
    const outcome = await this.users.request(command, toWrite(write, body, null));
    return written(outcome, 200, () => this.users.get(write.subject.id, false));
  }
}
