import { Post } from '@nestjs/common';
import { AdminController, WriteTo, type SubjectWrite } from '../../../platform/http/admin/admin.guard.js';
import { WriteBody, toWrite, written } from '../../../platform/http/admin/writes.js';
import { Field } from '../../../platform/dto/field.js';
import { oneOf } from '../../../platform/dto/rules.js';
import { ValidBody } from '../../../platform/http/decorators.js';
import type { Reply } from '../../../platform/http/reply.js';
import { ApiRoute } from '../../../platform/openapi/route.js';
import { AdminUsers, AdminUserWritten } from '../../users/users.contract.js';
import type { AnyCommand } from '../../../platform/operations/operation.js';
import { DecideReview, RetryStep, REVIEW_DECISIONS, type ReviewDecision } from './operator.commands.js';

const TAG = 'Admin: users';
const REFUSED = {
  404: 'There is no such user, or the key is confined to other merchants.',
  412: 'If-Match is another revision.',
  422: 'A member of the body is invalid.',
  428: 'If-Match is missing.',
} as const;

class ReviewBody extends WriteBody implements ReviewDecision {
  @Field(oneOf(REVIEW_DECISIONS)) decision!: ReviewDecision['decision'];
}

@AdminController('users')
export class AdminOnboardingsController {
  constructor(private readonly users: AdminUsers) {}

  @Post(':id/retry')
  @ApiRoute({
    id: 'adminRetryOnboarding',
    tag: TAG,
    summary: 'Retry the step that an onboarding waits for',
    description: 'Identity, wallet, card or activation: the service attempts it now.',
    scopes: ['users:write'],
    responses: {
      200: [AdminUserWritten, 'The step is due now. Personal data is left out.'],
      409: 'The next step is the person’s, or the onboarding is over.',
      ...REFUSED,
    },
  })
  async retry(@WriteTo('User') write: SubjectWrite, @ValidBody() body: WriteBody): Promise<Reply> {
    return this.request(new RetryStep(write.subject.id), write, body);
  }

  @Post(':id/review')
  @ApiRoute({
    id: 'adminReviewIdentity',
    tag: TAG,
    summary: 'Decide an identity that the sandbox keeps under review',
    description: 'Outside the sandbox the identity provider decides, in its dashboard: 409.',
    scopes: ['users:write'],
    responses: {
      200: [AdminUserWritten, 'It is decided; a worker continues. Personal data is left out.'],
      409: 'No identity of this user is under review.',
      ...REFUSED,
    },
  })
  async review(@WriteTo('User') write: SubjectWrite, @ValidBody() body: ReviewBody): Promise<Reply> {
    const { decision } = body;
    return this.request(new DecideReview(write.subject.id, { decision }), write, body);
  }

  private async request(command: AnyCommand, write: SubjectWrite, body: WriteBody): Promise<Reply> {
    const outcome = await this.users.request(command, toWrite(write, body, null));
    return written(outcome, 200, () => this.users.get(write.subject.id, false));
  }
}
