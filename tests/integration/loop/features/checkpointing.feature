Feature: The progress of a session is kept in checkpoints
  An operator goes back to one after an interruption, and can see how the work came about.

  Scenario: Checkpoint created at default interval
    Given nothing is configured about checkpoints
    And an agent that is executing
    When as many iterations have ended as lie between two checkpoints
    Then there is one checkpoint
    And it has the number of the iteration
    And it has the state of the agent, and its work
    And it has the time at which it was made

  Scenario: Checkpoint created at custom interval
    Given a checkpoint is to be made every 5 iterations, and not as configured
    And an agent that is executing
    When 5 iterations have ended
    Then there is one checkpoint

  Scenario: Checkpoint includes exit condition evaluation status
    Given a session with two exit conditions, of which one comes to be met
    And an agent that is executing
    When the session makes a checkpoint
    Then the checkpoint has both exit conditions
    And it has one as met and one as not met

  Scenario: Recovery from checkpoint after interruption
    Given a session whose process was killed in iteration 5
    And its checkpoint after iteration 3 is whole
    When the operator resumes it from that checkpoint
    Then the agent goes on from the state of the checkpoint
    And the next iteration is the 4th
