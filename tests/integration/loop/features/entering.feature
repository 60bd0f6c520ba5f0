Feature: An agent is set to work by itself
  An operator hands over a task, and turns to something else.

  Scenario: Successfully entering autonomous mode with default parameters
    Given an idle agent
    And a task for it
    When the operator starts a session and says nothing else
    Then the agent is executing
    And it works on the task
    And the session has the time at which it began

  Scenario: Entering autonomous mode with custom iteration limit
    Given an idle agent
    And a task for it
    When the operator starts a session of at most 50 iterations
    Then the agent is executing
    And its limit is 50 iterations

  Scenario: Entering autonomous mode with multiple exit conditions
    Given an idle agent
    And a task for it
    When the operator starts a session that ends with "all_tests_pass" and "build_succeeds"
    Then the agent is executing
    And both "all_tests_pass" and "build_succeeds" are evaluated

  Scenario: Preventing autonomous mode entry for agent already in execution
    Given an agent that is executing
    When the operator starts another session of it
    Then that is refused
    And the refusal says that the agent is already executing, and what
    And the session that there was goes on
