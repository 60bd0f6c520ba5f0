Feature: A session ends at its limit of iterations
  An agent that does not reach its aim does not work on for ever.

  Scenario: Agent stops at iteration limit when conditions not met
    Given a session of at most 100 iterations
    And of two exit conditions one is never met
    And an agent that is executing
    When 100 iterations have ended
    Then the agent has left autonomous execution
    And the status says that the limit of iterations is reached
    And the status has the exit condition that was not met

  Scenario: Agent exits before limit when conditions met
    Given a session of at most 100 iterations
    And the exit conditions come to be met in iteration 25
    And an agent that is executing
    When the session has ended
    Then that was after iteration 25
    And the session is completed

  Scenario: Warning issued when approaching iteration limit
    Given a session of at most 100 iterations
    And an agent that is executing
    When 80 % of them have ended
    Then the operator is notified of a warning
    And the warning has the iteration count
    And the warning has the iterations that remain

  Scenario: Operator can extend iteration limit during execution
    Given a session of at most 100 iterations
    And an agent that is executing, after 90 iterations
    When the operator extends the limit to 200
    Then the agent goes on beyond iteration 100
    And the limit of the session is 200 iterations
