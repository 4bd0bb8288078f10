import { ApiTags } from '@nestjs/swagger';
import { ApiProperty, Field, Nested, ResourceOf, PageOf } from '../../../platform/dto/field.js';
import { integer, text, UUID } from '../../../platform/dto/rules.js';
import { WriteBody, PendingResponse, toWrite, written } from '../../../platform/http/admin/writes.js';
import { MAX_REQUESTS_PER_MINUTE } from './merchant.js';
import { label, listOf, networks } from './rules.dto.js';
import { Get, Patch, Post } from '@nestjs/common';
import { AdminMerchant, DIRECTORY_VIEW, MerchantList, MerchantsQuery } from './directory.view.js';
import {
  AdminController,
  listed,
  WriteBy,
  WriteTo,
  type AdminWrite,
  type SubjectWrite,
} from '../../../platform/http/admin/admin.guard.js';
import { ListQuery, UuidParam, ValidBody } from '../../../platform/http/decorators.js';
import { Disclosure, Reach, Reads } from '../../../platform/http/reads.js';
import type { Reply } from '../../../platform/http/reply.js';
import { ApiRoute } from '../../../platform/openapi/route.js';
import type { AnyCommand } from '../../../platform/operations/operation.js';
import { Operations } from '../../../platform/operations/operations.js';
import { CreateMerchant, ReinstateMerchant, SuspendMerchant, UpdateMerchant } from './merchants.commands.js';

class NewMerchantBody extends WriteBody {
  @Field(label, { description: 'People who sign up read it too.' }) name!: string;
}

class EmbeddingBody {
  @Field(listOf(text()), { optional: true, description: 'Origins that may show its pages in a frame.' })
  origins?: readonly string[];

  @Field(listOf(text()), { optional: true, description: 'Origins, or schemes of apps such as `shopapp:`.' })
  callbacks?: readonly string[];

  @Field(label, { optional: true, nullable: true, description: 'Null: the name of the merchant.' })
  display_name?: string | null;
}

class LimitsBody {
  @Field(integer(1, MAX_REQUESTS_PER_MINUTE), { nullable: true, description: 'Null: the default.' })
  requests_per_minute!: number | null;
}

/** A PATCH body. Absent members stay unchanged; a list replaces the former list. */
class MerchantBody extends WriteBody {
  @Field(label, { optional: true }) name?: string;
  @Field(networks, { optional: true, description: 'Where it may call from; empty: anywhere.' })
  ip_allow_list?: readonly string[];

  @Nested(() => EmbeddingBody, { optional: true }) embedding?: EmbeddingBody;
  @Nested(() => LimitsBody, { optional: true }) limits?: LimitsBody;
}

class MerchantResponse extends ResourceOf('merchant', AdminMerchant) {}

class MerchantWritten extends MerchantResponse {
  @ApiProperty(UUID) operation_id!: string;
}

class MerchantsResponse extends PageOf('merchants', AdminMerchant) {}

const MERCHANT = 'Merchant';

/** The merchants in the admin API (admin-api.md 3). */
@ApiTags('Admin: merchants')
@AdminController('merchants')
export class AdminMerchantsController {
  constructor(
    private readonly merchants: MerchantList,
    private readonly operations: Operations,
  ) {}

  @Get()
  @ApiRoute({
    id: 'adminListMerchants',
    summary: 'List merchants, newest first',
    scopes: ['merchants:read'],
    responses: listed(MerchantsResponse),
  })
  @Reads({ view: DIRECTORY_VIEW, lookup: 'merchants' })
  async list(
    @Reach() merchants: readonly string[] | null,
    @ListQuery() query: MerchantsQuery,
  ): Promise<Disclosure<MerchantsResponse>> {
    const { rows, next_cursor } = await this.merchants.page(merchants, query);
    return new Disclosure(
      rows.map(({ id }) => id),
      () => ({ merchants: rows, next_cursor }),
    );
  }

  @Post()
  @ApiRoute({
    id: 'adminCreateMerchant',
    summary: 'Create a merchant',
    description: 'It has no key: issue one with POST /admin/v1/credentials.',
    scopes: ['merchants:write'],
    responses: { 201: [MerchantWritten, 'The merchant exists.'], 422: 'name, reason or ticket is invalid.' },
  })
  create(@WriteBy() write: AdminWrite, @ValidBody() { name, ...body }: NewMerchantBody): Promise<Reply> {
    const command = new CreateMerchant(write.idempotency.id('merchant'), { name });
    return this.request(201, command, write, body, null);
  }

  @Get(':id')
  @ApiRoute({
    id: 'adminGetMerchant',
    summary: 'Get a merchant',
    scopes: ['merchants:read'],
    responses: { 200: [MerchantResponse, 'The merchant; the ETag is its revision.'] },
  })
  @Reads({ view: null, lookup: 'merchant', etag: (id) => [`merchant-${id}`] })
  async get(@UuidParam('id', MERCHANT) id: string): Promise<Disclosure<MerchantResponse>> {
    const merchant = await this.merchants.get(id);
    return new Disclosure([id], () => ({ merchant }));
  }

  @Patch(':id')
  @ApiRoute({
    id: 'adminUpdateMerchant',
    summary: 'Change the settings of a merchant',
    scopes: ['merchants:write'],
    responses: {
      200: [MerchantWritten, 'The merchant as it is now.'],
      202: [PendingResponse, 'It raises the limit: another person has to approve all of it.'],
      422: 'A member is invalid.',
    },
  })
  update(
    @WriteTo(MERCHANT) write: SubjectWrite,
    @ValidBody() { name, ip_allow_list, embedding, limits, ...body }: MerchantBody,
  ): Promise<Reply> {
    const change = { name, ip_allow_list, embedding, limits };
    return this.request(200, new UpdateMerchant(write.subject.id, change), write, body);
  }

  @Post(':id/suspend')
  @ApiRoute({
    id: 'adminSuspendMerchant',
    summary: 'Suspend a merchant',
    description:
      'Stops both APIs, both pages and deliveries at once. Another person has to confirm it within 24 hours.',
    scopes: ['merchants:write'],
    responses: { 200: [MerchantWritten, 'It is suspended.'], 409: 'It is suspended already.' },
  })
  suspend(@WriteTo(MERCHANT) write: SubjectWrite, @ValidBody() body: WriteBody): Promise<Reply> {
    return this.request(200, new SuspendMerchant(write.subject.id), write, body);
  }

  @Post(':id/reinstate')
  @ApiRoute({
    id: 'adminReinstateMerchant',
    summary: 'End the suspension of a merchant',
    scopes: ['merchants:write'],
    responses: {
      200: [MerchantWritten, 'Only where approvals are off: it is active.'],
      202: [PendingResponse, 'Another person has to approve it.'],
      409: 'It is not suspended.',
    },
  })
  reinstate(@WriteTo(MERCHANT) write: SubjectWrite, @ValidBody() body: WriteBody): Promise<Reply> {
    return this.request(200, new ReinstateMerchant(write.subject.id), write, body);
  }

  private async request(
    status: number,
    command: AnyCommand,
    write: AdminWrite,
    body: WriteBody,
    merchantId: string | null = command.subjectId,
  ): Promise<Reply> {
    const outcome = await this.operations.request(command, toWrite(write, body, merchantId));
    return written(outcome, status, async () => ({ merchant: await this.merchants.get(command.subjectId) }));
  }
}
